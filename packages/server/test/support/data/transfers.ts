import { sql } from 'kysely'
import type { Database } from '../../../src/store/engine/db.ts'
import { openDatabase } from '../../../src/store/engine/open.ts'
import { fill } from './filled-tenant.ts'
import * as given from '../given.ts'
import { newFolder } from './folders.ts'
import { createPostgresDatabase, secretKey, startServer, type Store, type TestServer } from '../harness.ts'
import { startProcess } from '../processes/process.ts'
import { readSchema } from '../table/stored-schema.ts'

const place = { organizationId: 'org_t', documentId: 'doc_t' }

/** A stopped server with rows in every table, a thread, an editor, and folders whose ids sort before those that contain them. */
export async function filledServer(store: Store) {
  const server = await startServer(store, { isAlone: true })
  const tenant = await given.tenant(server)
  await fill(server, tenant)
  const { client } = tenant
  await client.permissionProviderConfig.update({ usePermissionProvider: false })
  await client.crdt.add({ ...place, editorId: 'note', type: 'text', data: 'Hello' })
  await addThread(tenant, 'Before')
  for (const [folderId, parentFolderId] of [
    ['z', 'root'],
    ['m', 'z'],
    ['a', 'm'],
  ] as const) {
    const { organizationId } = place
    await client.folders.add({ organizationId, folders: [{ folderId, parentFolderId }] })
  }
  const { after } = (await client.events.get({ limit: 500 })).data
  await close(server)
  // Another server would run what the calls have started, and call the webhooks of the examples.
  await withDatabase(server.data, ({ write }) =>
    write((db) => db.deleteFrom('jobs').where('kind', '!=', 'none').execute()),
  )
  return { tenant, after, data: server.data, settings: settingsOf(server.data) }
}

export const addThread = ({ client }: given.Tenant, commentText: string) =>
  client.commentAnnotations.add({
    ...place,
    commentAnnotations: [{ commentData: [{ commentText, from: { userId: 'ada' } }] }],
  })

/** Stops the server and keeps its data. */
export async function close({ server, database }: TestServer): Promise<void> {
  await server.stop()
  await database.close()
}

/** The settings with which commands use this data. */
export const settingsOf = ({ dataDir, databaseUrl }: TestServer['data']): Record<string, string> => ({
  DATA_DIR: dataDir,
  SECRET_KEY: secretKey,
  ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
})

export async function withDatabase<T>(
  { dataDir, databaseUrl: url }: TestServer['data'],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ url, dataDir, durability: 'relaxed', poolSize: 2 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** All rows of all tables as text, in an order that does not depend on the database. */
export function allRows(data: TestServer['data']): Promise<Record<string, string[]>> {
  return withDatabase(data, async (database) => {
    const found: Record<string, string[]> = {}
    for (const { name } of await readSchema(database)) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
        database.read,
      )
      found[name] = rows.map(asText).sort()
    }
    return found
  })
}

const asText = (row: Record<string, unknown>) =>
  JSON.stringify(
    Object.entries(row)
      .map(([name, value]) => [
        name,
        value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
      ])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )

/** Another installation, with its own secret. Its server runs. */
export async function newInstallation(store: Store) {
  const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
  const data = { dataDir: newFolder(), databaseUrl }
  const settings = { ...settingsOf(data), SECRET_KEY: 'a secret key of another installation' }
  const server = await startProcess('server', settings)
  return { data, settings, server }
}

/** Tables and columns that belong to an installation, and not to a workspace. */
const ofInstallation = {
  tables: [
    'address_calls',
    'event_log',
    'event_names',
    'idempotency_keys',
    'locks',
    'login_links',
    'pruned_events',
    'signals',
    'signing_keys',
  ],
  columns: ['secret', 'previous_secret', 'previous_until', 'event_id', 'transaction_id'],
}

/** All rows of the workspace, without what belongs to the installation. */
export async function workspaceRows(
  data: TestServer['data'],
  { workspaceId, apiKey }: given.Tenant,
): Promise<Record<string, string[]>> {
  const isOwn = (row: string) => row.includes(apiKey) || row.includes(workspaceId)
  const portable = (row: string) =>
    JSON.stringify(
      (JSON.parse(row) as [string, unknown][]).filter(([column]) => !ofInstallation.columns.includes(column)),
    )
  const tables = Object.entries(await allRows(data)).filter(([name]) => !ofInstallation.tables.includes(name))
  return Object.fromEntries(tables.map(([name, rows]) => [name, rows.filter(isOwn).map(portable).sort()]))
}
