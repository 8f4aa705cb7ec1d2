import { sql } from 'kysely'
import * as given from './given.ts'
import type { TestServer } from './harness.ts'
import { table } from './table.ts'

const tables = [
  ['organizations', 'folders', 'documents', 'document_migrations', 'users', 'grants', 'user_groups'],
  ['user_group_members', 'presence', 'live_states', 'editors', 'editor_updates'],
  [
    'editor_versions',
    'editor_version_authors',
    'notifications',
    'notification_recipients',
    'notification_configs',
    'allowed_domains',
    'service_configs',
    'auth_tokens',
    'api_keys',
  ],
].flat()

/** Everything that is stored for a key. */
export async function stored(
  server: TestServer,
  { apiKey }: given.Tenant,
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const name of tables) {
    const { rows } = await sql<object>`select * from ${sql.table(name)} where api_key = ${apiKey}`.execute(
      server.database.read,
    )
    found[name] = rows.map((row) => JSON.stringify(row, binaryAsHex)).sort()
  }
  return found
}
const binaryAsHex = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value

/** Runs the examples of everything that adds, so that the tenant has what all examples speak of. */
export async function fill(server: TestServer, tenant: given.Tenant): Promise<void> {
  for (const { operation, path, verb, version } of table) {
    if (operation.effect !== 'write' || operation.access !== 'apiKey') continue
    if (version === 'v1' && operation.versions.length > 1) continue
    if (/delete|remove|migrate/.test(verb)) continue
    await server.post(path, { data: given.exampleFor(tenant, operation) }, tenant.headers)
  }
}

/** Takes out what differs between two tenants or two calls anyway: ids, tokens and times. */
export function normalized(body: unknown, tenant: given.Tenant): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll(tenant.apiKey, 'KEY')
      .replaceAll(tenant.workspaceId, 'WORKSPACE')
      .replace(/owner\d+/gi, 'OWNER')
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN')
      .replace(/"(key|ws|own|job|mig|ver)_[0-9a-z]{20}"/g, '"ID"')
      .replace(/"[0-9a-f]{32}"/g, '"HASH"')
      .replace(/"\d{16}(!_[0-9a-z]{20})?"/g, '"DIGITS"')
      .replace(/\b1[78]\d{11}\b/g, '"TIME"')
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"'),
  )
}
