import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** API keys take turns, so each job is found by its key. No query looks for the jobs of all keys by time any more. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema.dropIndex('jobs_by_leased_until').execute()
  await ddl(db, types).index('jobs', ['api_key', 'leased_until'])
}
