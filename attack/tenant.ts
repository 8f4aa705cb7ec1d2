import { createClient } from '../packages/client/src/index.ts'
import { tenant, type Tenant } from '../packages/server/test/support/given.ts'

export function createTenant(url: string, ownerEmail: string): Promise<Tenant> {
  return tenant({ client: (options) => createClient({ url, retries: 0, ...options }) }, ownerEmail)
}

/** Returns a token of a user who may edit, or as a viewer only read, everything in `org_1`. */
export async function userToken(
  { client }: Tenant,
  userId: string,
  accessRole: 'viewer' | 'editor' = 'editor',
): Promise<string> {
  const { data } = await client.auth.generateToken({
    userId,
    userProperties: { name: userId, email: `${userId}@example.com` },
    permissions: { resources: [{ type: 'organization', id: 'org_1', accessRole }] },
  })
  return data.token
}

/** Creates the document `doc_1` of `org_1`, if it does not exist: viewers cannot create it by opening it. */
export async function ensureDocument({ client }: Tenant): Promise<void> {
  const users = [{ userId: 'somebody' }]
  const level = { organizationId: 'org_1', documentId: 'doc_1', createDocument: true }
  await client.users.add({ ...level, users })
}
