import type { Client } from '@plenum/client'
import type { Operation } from '@plenum/protocol'
import type { Input, Operations } from '@plenum/protocol'
import type { TestServer } from './harness.ts'

export interface Tenant {
  workspaceId: string
  workspaceAuthToken: string
  apiKey: string
  authToken: string
  /** The credentials of the key as headers. */
  headers: { 'x-svc-api-key': string; 'x-svc-auth-token': string }
  /** Has the credentials of the key and of the workspace. */
  client: Client
}

let tenants = 0

/** Creates a workspace with its first key. No other test uses it. */
export async function tenant(
  server: Pick<TestServer, 'client'>,
  ownerEmail = `owner${++tenants}@example.com`,
): Promise<Tenant> {
  const { data: workspace } = await server.client().workspace.create({ ownerEmail })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  return keyOf(server, { workspaceId: workspace.id, workspaceAuthToken: workspace.authToken }, apiKey)
}

/** The credentials of a key of that workspace. */
export async function keyOf(
  server: Pick<TestServer, 'client'>,
  workspace: { workspaceId: string; workspaceAuthToken: string },
  apiKey: string,
): Promise<Tenant> {
  const { data } = await server.client(workspace).authTokens.get({ apiKey })
  const authToken = data.authTokens[0]?.token ?? ''
  return {
    ...workspace,
    apiKey,
    authToken,
    headers: { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken },
    client: server.client({ ...workspace, apiKey, authToken }),
  }
}

/** Creates an empty organization with that id. */
export async function organization({ client }: Tenant, organizationId = 'org_1'): Promise<string> {
  await client.organizations.add({ organizations: [{ organizationId }] })
  return organizationId
}

/** Creates an empty document with that id in `org_1`. */
export async function document({ client }: Tenant, documentId = 'doc_1'): Promise<void> {
  await client.documents.add({
    organizationId: 'org_1',
    documents: [{ documentId }],
    createOrganization: true,
  })
}

/** Creates a document of `org_1` that only users with a grant on it may open. */
export async function restrictedDocument(tenant: Tenant, documentId: string): Promise<void> {
  await document(tenant, documentId)
  await tenant.client.documents.updateAccess({
    organizationId: 'org_1',
    documentIds: [documentId],
    accessType: 'restricted',
  })
}

/** Adds users with these ids to the organization, or to a document or folder of it. */
export async function users(
  { client }: Tenant,
  userIds: readonly string[],
  level: { organizationId?: string; documentId?: string; folderId?: string } = {},
): Promise<void> {
  const users = userIds.map((userId) => ({ userId }))
  await client.users.add({
    organizationId: 'org_1',
    createDocument: true,
    createFolder: true,
    ...level,
    users,
  })
}

let notifications = 0

/**
 * Adds a notification and its document. Default recipient: `u1`. Returns its id. Ids are increasing, so the order is
 * known even if two notifications are created in the same millisecond.
 */
export async function notification(
  { client }: Tenant,
  fields: Partial<Input<Operations['notifications']['add']>> = {},
): Promise<string> {
  const { data } = await client.notifications.add({
    organizationId: 'org_1',
    documentId: 'doc_1',
    createOrganization: true,
    createDocument: true,
    actionUser: { userId: 'actor' },
    displayHeadlineMessageTemplate: '{actionUser} finished {task}',
    displayBodyMessage: 'Ready for review.',
    notifyUsers: [{ userId: 'u1' }],
    notifyAll: false,
    notificationId: `n${String(++notifications).padStart(9, '0')}`,
    ...fields,
  })
  return data.id
}

/** The headers for an operation of this access level. */
export const headersFor = (tenant: Tenant, access: Operation['access']): Record<string, string> =>
  access === 'apiKey' || access === 'user'
    ? tenant.headers
    : access === 'workspace'
      ? { 'x-svc-workspace-id': tenant.workspaceId, 'x-svc-auth-token': tenant.workspaceAuthToken }
      : {}

/** The example of an operation, with the credentials and the owner replaced, which cannot be sent as they are. */
export function exampleFor(tenant: Tenant, { example }: Operation): Record<string, unknown> {
  const own = { apiKey: tenant.apiKey, authToken: tenant.authToken, ownerEmail: 'example-owner@example.com' }
  const input = example.input as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      Object.hasOwn(own, key) ? own[key as keyof typeof own] : value,
    ]),
  )
}
