import type { Folder } from '@plenum/protocol'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

export const organizationId = 'o1'

export const refused = (message: string, status = 'INVALID_ARGUMENT', httpStatus = 400) => ({
  status: httpStatus,
  body: { error: { status, message } },
})

/** A chain of folders: `f1` at the top level, `f2` inside `f1` and so on. */
export const chain = (length: number) =>
  Array.from({ length }, (_, index) => ({
    folderId: `f${index + 1}`,
    parentFolderId: index === 0 ? 'root' : `f${index}`,
  }))

/** Returns the id of each folder, together with the outline of its subfolders if it has any. */
export const outline = (folders: Folder[]): unknown[] =>
  folders.map(({ folderId, subFolders }) => (subFolders ? { [folderId]: outline(subFolders) } : folderId))

/** The calls that every test of folders uses, on the organization `o1`. */
export function folderCalls(server: TestServer) {
  const tenantWithOrganization = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return tenant
  }
  const add = ({ client }: given.Tenant, folders: Parameters<typeof client.folders.add>[0]['folders']) =>
    client.folders.add({ organizationId, folders })
  const all = async ({ client }: given.Tenant) => (await client.folders.get({ organizationId })).data
  const one = async (tenant: given.Tenant, folderId: string) =>
    (await all(tenant)).find((folder) => folder.folderId === folderId)
  const post = async ({ headers }: given.Tenant, verb: string, data: unknown, version = 'v2') => {
    const { status, body } = await server.post(`/${version}/organizations/folders/${verb}`, { data }, headers)
    return { status, body }
  }
  return { tenantWithOrganization, add, all, one, post }
}
