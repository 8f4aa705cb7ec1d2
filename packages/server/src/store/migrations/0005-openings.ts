import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await inside(
    table('openings', 1, { api_key: 'id', day: 'bigint', documents: 'bigint' }),
    'openings',
    'api_keys',
    ['api_key'],
  ).execute()
}
