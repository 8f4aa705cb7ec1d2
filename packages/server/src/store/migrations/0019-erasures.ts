import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)
  await inside(
    table('erasures', 2, {
      api_key: 'id',
      erasure_id: 'id',
      user_ids: 'text',
      organization_ids: 'text?',
      position: 'text?',
      tasks_count: 'bigint',
      tasks_left: 'bigint',
      last_task_completed_at: 'bigint?',
      completed_at: 'bigint?',
      created_at: 'bigint',
    }),
    'erasures',
    'api_keys',
    ['api_key'],
  ).execute()
  await index('erasures', ['completed_at'])

  // What a user did in an organization, for the export and the erasure of the user's data.
  const ofUser = ['api_key', 'organization_id', 'user_id']
  await index('annotation_views', ofUser)
  await index('comment_reactions', [...ofUser, 'created_at'])
  // PostgreSQL sorts: an index entry has at most 2,704 bytes, and three ids may have more.
  const isSqlite = types.dialect === 'sqlite'
  await db.schema
    .createIndex('annotation_users_of_user')
    .on('annotation_users')
    .columns(isSqlite ? [...ofUser, 'document_id', 'number'] : ofUser)
    .execute()
}
