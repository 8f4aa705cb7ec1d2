import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** Calls of public operations are counted for all servers, and over restarts. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table } = ddl(db, types)
  await table('address_calls', 1, { address_hash: 'id', calls: 'integer', ends_at: 'bigint' }).execute()
  await db.schema.createIndex('address_calls_by_ends_at').on('address_calls').column('ends_at').execute()
}
