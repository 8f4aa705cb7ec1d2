import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await db.schema.alterTable('notifications').addColumn('annotation_id', types.id).execute()
  // For the deletion of annotations. An index entry of PostgreSQL has no room for the id of the document too.
  await db.schema
    .createIndex('notifications_about_annotation')
    .on('notifications')
    .columns(['api_key', 'organization_id', 'annotation_id'])
    .where(sql.ref('annotation_id'), 'is not', null)
    .execute()

  await inside(
    table('pending_notifications', 3, {
      api_key: 'id',
      organization_id: 'id',
      notification_id: 'id',
      document_id: 'id',
      annotation_id: 'id',
      comment_id: 'bigint?',
      name: 'text',
      actor_id: 'id?',
      seq: 'bigint',
      job_id: 'id',
      deliver_at: 'bigint?',
    }),
    'pending_notifications',
    'documents',
    ['api_key', 'organization_id', 'document_id'],
  ).execute()
  // Each finds the notifications of an open batch: those in a document, and those that one user caused.
  for (const column of ['document_id', 'actor_id']) {
    await db.schema
      .createIndex(`pending_notifications_by_${column}`)
      .on('pending_notifications')
      .columns(['api_key', 'organization_id', column, 'deliver_at'])
      .execute()
  }
}
