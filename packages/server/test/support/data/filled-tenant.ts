import { sql } from 'kysely'
import type { Database } from '../../../src/store/engine/db.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { readSchema, type StoredTable } from '../table/stored-schema.ts'
import { table } from '../table/table.ts'

const tablesOfKeys = new WeakMap<Database, Promise<StoredTable[]>>()

/** The tables with rows of API keys. A server never changes them. */
function readTablesOfKeys(database: Database): Promise<StoredTable[]> {
  const read = async () => (await readSchema(database)).filter(({ columns }) => columns.includes('api_key'))
  const tables = tablesOfKeys.get(database) ?? read()
  tablesOfKeys.set(database, tables)
  return tables
}

/** All rows of an API key, by table, or the rows of these tables. */
export async function stored(
  { database }: TestServer,
  { apiKey }: given.Tenant,
  tables?: readonly string[],
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const { name } of await readTablesOfKeys(database)) {
    if (tables && !tables.includes(name)) continue
    const { rows } = await sql<object>`select * from ${sql.table(name)} where api_key = ${apiKey}`.execute(
      database.read,
    )
    found[name] = rows.map((row) => JSON.stringify(row, binaryAsHex)).sort()
  }
  return found
}
const binaryAsHex = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value

/** A time that no test reaches, so that no server claims the job or the deletion. */
const never = Number.MAX_SAFE_INTEGER

/**
 * Runs the examples of all writes with an API key that delete or migrate nothing, so that the tenant has the objects that
 * all examples name. Then adds rows to the tables that no example fills. Returns a document that has rows in every table
 * with a `document_id`.
 */
export async function fill(
  server: TestServer,
  tenant: given.Tenant,
): Promise<{ organizationId: string; documentId: string }> {
  for (const { operation, path, verb, version } of table) {
    if (operation.effect !== 'write' || !['apiKey', 'user'].includes(operation.access)) continue
    if (version === 'v1' && operation.versions.length > 1) continue
    if (/delete|remove|migrate/.test(verb)) continue
    const data = given.exampleFor(tenant, operation)
    await server.post(path, { data }, tenant.headers)
  }
  return addRowsWithoutExample(server, tenant)
}

/**
 * Creates a tenant with the rows of another one, which is much faster than `fill`. On SQLite only, and without rows whose ids
 * are unique in the whole database.
 */
export async function copyOf(server: TestServer, { apiKey }: given.Tenant): Promise<given.Tenant> {
  const copy = await given.tenant(server)
  const tables = await readTablesOfKeys(server.database)
  await server.database.write(async (db) => {
    await sql`pragma defer_foreign_keys = on`.execute(db)
    for (const { name, columns } of tables) {
      const others = columns.filter((column) => column !== 'api_key').map((column) => sql.ref(column))
      // The new tenant has a key and a token of its own.
      await sql`
        insert or ignore into ${sql.table(name)} (api_key, ${sql.join(others)})
        select ${copy.apiKey}, ${sql.join(others)} from ${sql.table(name)}
        where api_key = ${apiKey} and not exists (select 1 from ${sql.table(name)} where api_key = ${copy.apiKey})`.execute(
        db,
      )
    }
  })
  return copy
}

async function addRowsWithoutExample({ database }: TestServer, { apiKey }: given.Tenant) {
  const bytes = Uint8Array.of(1)
  return database.write(async (db) => {
    const version = await db
      .selectFrom('editor_versions')
      .select(['api_key', 'organization_id', 'document_id', 'editor_id', 'version_id'])
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    const { version_id: _, ...editor } = version
    const { organization_id, document_id } = editor
    const document = { api_key: apiKey, organization_id, document_id }
    // Recent, so that housekeeping does not remove the migration.
    const times = { created_at: Date.now(), last_updated: Date.now() }
    await db
      .insertInto('editor_snapshots')
      .values({ ...editor, bytes, parts: 2, snapshot_id: 's' })
      .execute()
    await db
      .insertInto('editor_snapshot_parts')
      .values({ ...editor, snapshot_id: 's', part: 1, bytes })
      .execute()
    await db
      .insertInto('editor_version_parts')
      .values({ ...version, part: 1, bytes })
      .execute()
    await db
      .insertInto('editor_clients')
      .values({ ...editor, client_id: 1, user_id: 'u' })
      .execute()
    await db
      .insertInto('document_migrations')
      .values({ ...document, migration_id: 'm', new_document_id: 'n', status: 'completed', ...times })
      .execute()
    const annotation = await db
      .selectFrom('comments')
      .select(['api_key', 'organization_id', 'document_id', 'number', 'comment_id'])
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    const { comment_id: _comment, ...ofAnnotation } = annotation
    await db
      .insertInto('comment_reactions')
      .values({ ...annotation, icon: 'HEART_FACE', user_id: 'u', created_at: 1 })
      .execute()
    await db
      .insertInto('annotation_views')
      .values({ ...ofAnnotation, user_id: 'u', viewed_seq: 1, viewed_at: 1 })
      .execute()
    await db
      .insertInto('removed_annotations')
      .values({ ...document, annotation_id: 'removed', seq: 1, audience: null })
      .execute()
    await db
      .insertInto('pending_notifications')
      .values({
        ...document,
        notification_id: 'pending',
        annotation_id: 'none',
        comment_id: null,
        name: 'comment.add',
        actor_id: null,
        seq: 1,
        job_id: 'none',
        deliver_at: null,
        to_inbox: 1,
        to_email: 0,
      })
      .execute()
    await db.insertInto('pruned_events').values({ api_key: apiKey, transaction_id: 0, event_id: 0 }).execute()
    await db
      .insertInto('erasures')
      .values({
        api_key: apiKey,
        erasure_id: 'job',
        user_ids: '[]',
        tasks_count: 1,
        tasks_left: 0,
        completed_at: Date.now(),
        created_at: 1,
      })
      .execute()
    await db.insertInto('openings').values({ api_key: apiKey, day: 1, documents: 1 }).execute()
    const scope = JSON.stringify({ organizationId: organization_id, hiddenNotifications: ['none'] })
    await db
      .insertInto('deletions')
      .values({ deletion_id: `del-${apiKey}`, api_key: apiKey, scope, leased_until: never, created_at: 1 })
      .execute()
    const message = { api_key: apiKey, message_id: `msg-${apiKey}` }
    await db
      .insertInto('delivery_messages')
      .values({ ...message, event: 'comment.add', data: '{}', created_at: never })
      .execute()
    await db
      .insertInto('deliveries')
      .values({
        ...message,
        delivery_id: `dlv-${apiKey}`,
        channel: 'email',
        target: 'a@example.com',
        user_id: 'u1',
        event: 'comment.add',
        status: 'failed',
        attempts: 1,
        created_at: never,
      })
      .execute()
    await db
      .insertInto('digest_items')
      .values({ ...message, organization_id, user_id: 'u1', email: 'a@example.com', created_at: never })
      .execute()
    // What the examples have started would change rows while a test runs. A job without its row changes nothing.
    await db.deleteFrom('jobs').where('api_key', '=', apiKey).execute()
    const due = { run_at: never, available_at: never, created_at: 1 }
    const job = { api_key: apiKey, job_id: `job-${apiKey}`, lane: '', kind: 'none', payload: '{}' }
    await db
      .insertInto('jobs')
      .values({ ...job, attempts: 0, claims: 0, ...due })
      .execute()
    const signal = { api_key: apiKey, signal_id: `sig-${apiKey}`, server_id: 'none', message: '{}' }
    await db
      .insertInto('signals')
      .values({ ...signal, transaction_id: 0, created_at: never })
      .execute()
    return { organizationId: organization_id, documentId: document_id }
  })
}

/** Replaces ids, tokens and times, which differ between two tenants and between two calls. */
export function normalized(body: unknown, tenant: given.Tenant): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll(tenant.apiKey, 'KEY')
      .replaceAll(tenant.workspaceId, 'WORKSPACE')
      .replace(/owner\d+/gi, 'OWNER')
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN')
      .replace(/"(key|ws|own|job|mig|ver|ep)_[0-9a-z]{20}"/g, '"ID"')
      .replace(/"[0-9a-f]{32}"/g, '"HASH"')
      .replace(/"[0-9a-f]{64}"/g, '"SIGNATURE"')
      .replace(/"\d{16}(!_[0-9a-z]{20})?"/g, '"DIGITS"')
      .replace(/\b1[78]\d{11}\b/g, '"TIME"')
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"'),
  )
}
