import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** What emails and webhooks say, and how far the delivery to each receiver is. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside, index } = ddl(db, types)
  await table('delivery_messages', 2, {
    api_key: 'id',
    message_id: 'id',
    event: 'text',
    data: 'text',
    created_at: 'bigint',
  }).execute()
  await index('delivery_messages', ['created_at'])
  await inside(
    table('deliveries', 2, {
      api_key: 'id',
      delivery_id: 'id',
      message_id: 'id',
      channel: 'text',
      target: 'id',
      user_id: 'id?',
      event: 'text',
      status: 'id',
      attempts: 'integer',
      next_at: 'bigint?',
      last_at: 'bigint?',
      last_code: 'integer?',
      last_answer: 'text?',
      last_error: 'text?',
      created_at: 'bigint',
    }),
    'deliveries',
    'delivery_messages',
    ['api_key', 'message_id'],
  ).execute()
  await index('deliveries', ['api_key', 'message_id'])
  // A list is ordered by time. Each of these columns is one way to find it.
  const inOrder = ['created_at', 'delivery_id']
  await index('deliveries', ['api_key', ...inOrder])
  await index('deliveries', ['api_key', 'status', ...inOrder])
  await index('deliveries', ['api_key', 'target', ...inOrder])
}
