import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  await inside(
    table('webhook_endpoints', 2, {
      api_key: 'id',
      endpoint_id: 'id',
      url: 'text',
      description: 'text?',
      filter_types: 'text?',
      channels: 'text?',
      disabled: 'integer',
      disabled_reason: 'text?',
      rate_limit: 'bigint?',
      uid: 'id?',
      metadata: 'text?',
      secret: 'bytes',
      previous_secret: 'bytes?',
      previous_until: 'bigint?',
      created_at: 'bigint',
      updated_at: 'bigint',
    }),
    'webhook_endpoints',
    'api_keys',
    ['api_key'],
  ).execute()
  await db.schema
    .createIndex('webhook_endpoints_by_uid')
    .on('webhook_endpoints')
    .columns(['api_key', 'uid'])
    .unique()
    .execute()
}
