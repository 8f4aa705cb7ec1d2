import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { index } = ddl(db, types)
  // This index lists the users who share an address, in pages, ordered by id.
  await index('users', ['api_key', 'email', 'user_id'])
  await db.schema.dropIndex('users_by_email').execute()
}
