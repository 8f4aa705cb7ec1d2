import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)

  await inside(
    table('notifications', 3, {
      api_key: 'id',
      organization_id: 'id',
      notification_id: 'id',
      document_id: 'id',
      location_id: 'id?',
      data: 'text',
      timestamp: 'bigint',
    }),
    'notifications',
    'documents',
    ['api_key', 'organization_id', 'document_id'],
  ).execute()
  await db.schema
    .createIndex('notifications_of_document')
    .on('notifications')
    .columns(['api_key', 'organization_id', 'document_id', 'timestamp', 'notification_id'])
    .execute()
  await index('notifications', ['api_key', 'organization_id', 'timestamp', 'notification_id'])
  await inside(
    table('notification_recipients', 5, {
      api_key: 'id',
      organization_id: 'id',
      notification_id: 'id',
      recipient: 'id',
      by_email: 'integer',
      email: 'text?',
      named: 'integer',
      is_read: 'integer',
      for_you: 'integer',
      timestamp: 'bigint',
    }),
    'notification_recipients',
    'notifications',
    ['api_key', 'organization_id', 'notification_id'],
  ).execute()
  await db.schema
    .createIndex('notification_recipients_inbox')
    .on('notification_recipients')
    .columns(['api_key', 'organization_id', 'recipient', 'by_email', 'timestamp', 'notification_id'])
    .execute()
  // Much smaller than the table: most recipients in a large organization are not named.
  await db.schema
    .createIndex('notification_recipients_named')
    .on('notification_recipients')
    .columns(['api_key', 'organization_id', 'notification_id'])
    .where(sql.ref('named'), '=', 1)
    .execute()

  await inside(
    table('notification_configs', 4, {
      api_key: 'id',
      organization_id: 'id',
      document_id: 'id',
      user_id: 'id',
      config: 'text',
    }),
    'notification_configs',
    'api_keys',
    ['api_key'],
  ).execute()
}
