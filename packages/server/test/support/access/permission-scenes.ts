import type { Client } from '@plenum/client'
import type { PermissionResource } from '@plenum/protocol'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'

export const organization = { type: 'organization', id: 'o1' } as const
export const folder = (id: string) => ({ type: 'folder', id, organizationId: 'o1' }) as const
export const document = (id: string) => ({ type: 'document', id, organizationId: 'o1' }) as const

export const grant = (client: Client, userId: string, ...resources: PermissionResource[]) =>
  client.permissions.add({ user: { userId }, permissions: { resources } })

export const denied = (kind: 'organization' | 'folder' | 'document') => ({
  error: `User does not have access to ${kind}`,
  errorCode: 'permission_denied',
})
export const stranger = { organization: { o1: denied('organization') } }
export const nowSeconds = () => Math.floor(Date.now() / 1000)

export const permissionsOf = async (
  client: Client,
  userId: string,
  ids: { documentIds?: string[]; folderIds?: string[] } = {},
) => (await client.permissions.get({ organizationId: 'o1', userIds: [userId], ...ids })).data[userId]

/** `outer/inner` with `deep` in `inner`, and `flat` at the root. No folder or document has its own access type. */
export async function folderScene(server: TestServer): Promise<given.Tenant> {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.organization(tenant, 'o1')
  await client.folders.add({
    organizationId: 'o1',
    folders: [{ folderId: 'outer' }, { folderId: 'inner', parentFolderId: 'outer' }],
  })
  await client.documents.add({
    organizationId: 'o1',
    folderId: 'inner',
    documents: [{ documentId: 'deep' }],
  })
  await client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'flat' }] })
  return tenant
}
