import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/**
 * Activities are listed in the order of these indexes. PostgreSQL sorts by the last column of that order, the id, without
 * the index: an index entry has at most 2,704 bytes, and three ids may have more.
 */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await inside(
    table('activities', 3, {
      api_key: 'id',
      organization_id: 'id',
      activity_id: 'id',
      document_id: 'id',
      timestamp: 'bigint',
      feature_type: 'text',
      action_type: 'id',
      user_id: 'id',
      target_entity_id: 'id?',
      annotation_id: 'id?',
      audience: 'text?',
      immutable: 'integer',
      data: 'text',
    }),
    'activities',
    'organizations',
    ['api_key', 'organization_id'],
  ).execute()
  const last = types.dialect === 'sqlite' ? ['timestamp', 'activity_id'] : ['timestamp']
  for (const [name, by] of [
    ['activities_in_order', []],
    ['activities_of_document', ['document_id']],
    ['activities_of_user', ['user_id']],
    ['activities_of_target', ['target_entity_id']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('activities')
      .columns(['api_key', 'organization_id', ...by, ...last])
      .execute()
  }
  // The deletion of a document finds the activities that are deleted with it, however many are immutable.
  await db.schema
    .createIndex('activities_deleted_with_document')
    .on('activities')
    .columns(['api_key', 'organization_id', 'document_id'])
    .where(sql.ref('immutable'), '=', sql.lit(0))
    .execute()
}
