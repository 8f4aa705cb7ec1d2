import type { Kysely } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/** An event may be sent by email, alone or together with others in a digest. */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table, inside } = ddl(db, types)
  for (const [column, before] of [
    ['to_inbox', 1],
    ['to_email', 0],
  ] as const) {
    await db.schema
      .alterTable('pending_notifications')
      .addColumn(column, 'integer', (c) => c.notNull().defaultTo(before))
      .execute()
  }
  await inside(
    table('digest_items', 4, {
      api_key: 'id',
      organization_id: 'id',
      user_id: 'id',
      message_id: 'id',
      email: 'text',
      created_at: 'bigint',
    }),
    'digest_items',
    'organizations',
    ['api_key', 'organization_id'],
  ).execute()
}
