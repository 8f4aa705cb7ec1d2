import type { Client } from '@plenum/client'
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

/** A workspace of its own with its first key: nothing of another test is in it. */
export async function tenant(server: TestServer): Promise<Tenant> {
  const { data: workspace } = await server.client().workspace.create({ ownerEmail: `owner${++tenants}@example.com` })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  return keyOf(server, { workspaceId: workspace.id, workspaceAuthToken: workspace.authToken }, apiKey)
}

/** The credentials of a key of that workspace. */
export async function keyOf(
  server: TestServer,
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

/** An organization with that id, and nothing in it. */
export async function organization({ client }: Tenant, organizationId = 'org_1'): Promise<string> {
  await client.organizations.add({ organizations: [{ organizationId }] })
  return organizationId
}
