import { sql } from 'kysely'
import type { Db } from '../engine/db.ts'
import { deleteSome } from '../engine/some-rows.ts'
import type { MigrationTable } from '../schema/schema.ts'

export type MigrationStatus = MigrationTable['status']

export interface Migration {
  migrationId: string
  documentId: string
  newDocumentId: string
  status: MigrationStatus
}

const running = ['pending', 'in_progress'] as const

/** The state of a migration can be read at least this long after it ended (spec 10.9). */
const retentionMs = 30 * 24 * 60 * 60 * 1000

export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  migration: Omit<Migration, 'status'>,
  now: number,
): Promise<void> {
  await db
    .insertInto('document_migrations')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      migration_id: migration.migrationId,
      document_id: migration.documentId,
      new_document_id: migration.newDocumentId,
      status: 'pending',
      created_at: now,
      last_updated: now,
    })
    .execute()
}

export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  migrationId: string,
): Promise<Migration | undefined> {
  const row = await db
    .selectFrom('document_migrations')
    .select(['migration_id', 'document_id', 'new_document_id', 'status'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('migration_id', '=', migrationId)
    .executeTakeFirst()
  return (
    row && {
      migrationId: row.migration_id,
      documentId: row.document_id,
      newDocumentId: row.new_document_id,
      status: row.status,
    }
  )
}

/** Where a document was moved in the last 30 days. Undefined: nowhere. */
export async function findTarget(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('document_migrations')
    .select('new_document_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'completed')
    .where('document_id', '=', documentId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.new_document_id
}

/** Whether a running migration moves one of these documents, or moves another document to one of them. */
export async function isRunning(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<boolean> {
  const row = await db
    .selectFrom('document_migrations')
    .select('migration_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('status', 'in', running)
    .where((eb) => eb.or([eb('document_id', 'in', documentIds), eb('new_document_id', 'in', documentIds)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Changes the state of a running migration. Returns false if it has ended or does not exist. */
export async function advance(
  db: Db,
  apiKey: string,
  organizationId: string,
  migrationId: string,
  status: MigrationStatus,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('document_migrations')
    .set({ status, last_updated: now })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('migration_id', '=', migrationId)
    .where('status', 'in', running)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Removes migrations of every tenant that ended long ago, at most `maxRows`. Returns their number. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(
    db,
    'document_migrations',
    sql`status not in (${sql.join(running)}) and last_updated < ${now - retentionMs}`,
    maxRows,
  )
