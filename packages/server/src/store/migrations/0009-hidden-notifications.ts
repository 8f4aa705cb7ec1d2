import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/**
 * A notification with very many recipients is written and removed in steps. Meanwhile it is hidden: it has no public id.
 * `notification_id` stays the key of its rows. The indexes of lists leave out hidden notifications.
 */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { index } = ddl(db, types)
  await db.schema.alterTable('notifications').addColumn('public_id', types.id).execute()
  await sql`update notifications set public_id = notification_id`.execute(db)
  await db.schema
    .createIndex('notifications_by_public_id')
    .on('notifications')
    .columns(['api_key', 'organization_id', 'public_id'])
    .unique()
    .execute()
  // The deletion of documents uses this index.
  await index('notifications', ['api_key', 'organization_id', 'document_id'])
  await db.schema.dropIndex('notifications_of_document').execute()
  await db.schema.dropIndex('notifications_by_organization_id_timestamp_notification_id').execute()
  for (const [name, columns] of [
    ['notifications_of_document', ['document_id', 'timestamp', 'notification_id']],
    ['notifications_in_order', ['timestamp', 'notification_id']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('notifications')
      .columns(['api_key', 'organization_id', ...columns])
      .where(sql.ref('public_id'), 'is not', null)
      .execute()
  }
}
