import { type Kysely, sql } from 'kysely'
import { ddl } from './ddl.ts'
import type { ColumnTypes } from './migration.ts'

/**
 * How callers see events: the secret with which positions are encrypted and ids are made, once a server has needed it, and the
 * newest event and transaction of the time before. The readers of that time have stored plain positions. A database without
 * events has no such readers, and no row.
 */
export async function up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { table } = ddl(db, types)
  await table('event_names', 1, {
    names_id: 'id',
    secret: 'bytes?',
    plain_transaction_id: 'bigint?',
    plain_event_id: 'bigint?',
  }).execute()
  const insert = sql`insert into event_names (names_id, plain_transaction_id, plain_event_id)`
  if (types.dialect === 'sqlite') {
    await sql`${insert} select 'current', 0, seq from sqlite_sequence where name = 'events' and seq > 0`.execute(
      db,
    )
  } else {
    await sql`${insert}
      select 'current', first_transaction_id + pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
        (select coalesce(max(event_id), 0) from events)
      from event_log limit 1`.execute(db)
  }
}
