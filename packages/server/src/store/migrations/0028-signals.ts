import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, index } = ddl(db, types)
  await table('signals', 2, {
    api_key: 'id',
    signal_id: 'id',
    server_id: 'id',
    transaction_id: 'bigint',
    message: 'text',
    created_at: 'bigint',
  }).execute()
  await index('signals', ['transaction_id'])
  await index('signals', ['created_at'])
}
