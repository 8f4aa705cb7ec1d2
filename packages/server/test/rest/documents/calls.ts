import { expect } from 'vitest'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

export const organizationId = 'o1'
export const v1 = { version: 'v1' } as const
export const internalId = expect.stringMatching(/^\d{16}$/)
const times = { createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
/** The fields of a document without settings of its own. */
export const plain = { disabled: false, accessType: 'public', ...times }

export const refused = (message: string, status = 'INVALID_ARGUMENT') => ({
  status: 400,
  body: { error: { status, message } },
})
export const ids = (length: number) => Array.from({ length }, (_, index) => `d${index}`)
export const missing = (id: string) => ({
  success: false,
  id,
  message: 'Document does not exist',
  code: 'not-found',
})

/** The calls that every test of documents uses, on the organization `o1`. */
export function documentCalls(server: TestServer) {
  const tenantWithOrganization = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return tenant
  }
  const add = ({ client }: given.Tenant, ids: string[], folderId?: string) =>
    client.documents.add({ organizationId, folderId, documents: ids.map((documentId) => ({ documentId })) })
  const addFolders = (
    { client }: given.Tenant,
    folders: Parameters<typeof client.folders.add>[0]['folders'],
  ) => client.folders.add({ organizationId, folders })
  const all = async ({ client }: given.Tenant) => (await client.documents.get({ organizationId })).data
  const one = async (tenant: given.Tenant, id: string) =>
    (await all(tenant)).find((document) => document.id === id)
  const post = async ({ headers }: given.Tenant, verb: string, data: unknown, version = 'v2') => {
    const { status, body } = await server.post(
      `/${version}/organizations/documents/${verb}`,
      { data },
      headers,
    )
    return { status, body }
  }
  /** Checks that every faulty body is refused and that the stored documents stay unchanged. */
  const refuseAll = async (
    tenant: given.Tenant,
    verb: string,
    faults: [Record<string, unknown>, string][],
  ) => {
    const before = await all(tenant)
    for (const [data, message] of faults) {
      expect(await post(tenant, verb, data), message).toEqual(refused(message))
    }
    expect(await all(tenant)).toEqual(before)
  }
  return { tenantWithOrganization, add, addFolders, all, one, post, refuseAll }
}
