import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table } = ddl(db, types)
  await table('login_links', 1, { token_hash: 'id', email: 'id', created_at: 'bigint' }).execute()
  await db.schema
    .createIndex('login_links_by_email')
    .on('login_links')
    .columns(['email', 'created_at'])
    .execute()
  await db.schema.createIndex('login_links_by_created_at').on('login_links').column('created_at').execute()
  // What a user chose in an organization, for users who unsubscribe from all of it.
  await db.schema
    .createIndex('notification_configs_of_user')
    .on('notification_configs')
    .columns(['api_key', 'organization_id', 'user_id', 'document_id'])
    .execute()
}
