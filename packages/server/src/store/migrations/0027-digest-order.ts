import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** A digest takes the oldest messages of a user, however many wait. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { index } = ddl(db, types)
  await index('digest_items', ['api_key', 'organization_id', 'user_id', 'created_at', 'message_id'])
}
