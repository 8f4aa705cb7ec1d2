import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)
  await inside(
    table('deletions', 1, {
      deletion_id: 'id',
      api_key: 'id',
      scope: 'text',
      leased_until: 'bigint',
      created_at: 'bigint',
    }),
    'deletions',
    'api_keys',
    ['api_key'],
  ).execute()
  await index('deletions', ['api_key'])
  // This index shows whether a user has any grant left. Without it, all grants of the API key would be read.
  await index('grants', ['api_key', 'user_id'])
}
