import { sql } from 'kysely'
import type { Database, Db } from './engine/db.ts'
import { sqliteOf } from './engine/prepared.ts'

/** A place in the event log. Events are ordered by it. */
export interface EventPosition {
  transactionId: number
  eventId: number
}

/** Before all events. */
export const origin: EventPosition = { transactionId: 0, eventId: 0 }

export const isBefore = (a: EventPosition, b: EventPosition): boolean =>
  a.transactionId < b.transactionId || (a.transactionId === b.transactionId && a.eventId < b.eventId)

/**
 * PostgreSQL numbers the transactions of all its databases with one counter. A database that is restored on another server, or
 * from a backup, finds another counter there. So ids are stored with an offset that grows whenever the server is another one.
 */
const offset = sql`(select first_transaction_id from event_log)`

/** More transactions than a server ever runs: at 10,000 a second they take 30 years. */
const transactionsPerServer = 10_000_000_000_000

/** The id of the transaction that writes an event, as it is stored. SQLite commits in the order of the event ids. */
export const currentTransactionId = (isPostgres: boolean) =>
  isPostgres ? sql<number>`${offset} + pg_current_xact_id()::text::bigint` : sql<number>`0`

/**
 * Whether the transaction of a stored event began before every transaction that is still in progress. On PostgreSQL a
 * transaction may get its id early and commit late: nothing can appear before a settled event any more.
 */
export const isSettled = sql<boolean>`
  transaction_id < ${offset} + pg_snapshot_xmin(pg_current_snapshot())::text::bigint`

/** Whether the log has reached the position. It has not if the database was replaced by an older copy. */
export async function hasReached(db: Db, { transactionId, eventId }: EventPosition): Promise<boolean> {
  if (sqliteOf(db)) return transactionId === 0 && eventId <= (await lastEventId(db))
  const { rows } = await sql<{ next: number }>`
    select ${offset} + pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next`.execute(db)
  return transactionId < (rows[0]?.next ?? 0)
}

/** The highest id that the embedded database has given to an event, which may be removed. */
export async function lastEventId(db: Db): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from sqlite_sequence where name = 'events'`.execute(db)
  return rows[0]?.seq ?? 0
}

/**
 * Makes the ids of later events on PostgreSQL higher than those of the embedded database from which the log was copied. The
 * copied events have the transaction id 0, so their positions come before those of all later events.
 */
export async function continueEventIds(db: Db, lastId: number): Promise<void> {
  if (lastId > 0)
    await sql`select setval(pg_get_serial_sequence('events', 'event_id'), ${lastId})`.execute(db)
}

/** More events than there can be between a backup and its restore. */
const eventsPerRestore = 100_000_000_000

/**
 * Makes the ids of later events higher than those of all events that readers may have seen after this copy of the embedded
 * database was made. Their positions stay valid.
 */
export async function skipEventIds(db: Db): Promise<void> {
  await sql`
    insert into sqlite_sequence (name, seq)
    select 'events', 0 where not exists (select 1 from sqlite_sequence where name = 'events')`.execute(db)
  await sql`update sqlite_sequence set seq = seq + ${eventsPerRestore} where name = 'events'`.execute(db)
}

/**
 * Finds out at the start whether another server numbers the transactions than before. Then its ids begin above all stored ones:
 * the order of the log and the positions of its readers stay valid. Nothing else may write events meanwhile.
 */
export const adoptServer = (database: Pick<Database, 'write' | 'lock'>): Promise<void> =>
  database.write(async (db) => {
    await database.lock(db, 'event log')
    await adopt(db)
  })

async function adopt(db: Db): Promise<void> {
  if (sqliteOf(db)) return
  const server = await findServer(db)
  const log = await db.selectFrom('event_log').selectAll().executeTakeFirst()
  if (!log) {
    await db.insertInto('event_log').values({ server, first_transaction_id: 0 }).execute()
    return
  }
  const newest = await db
    .selectFrom('events')
    .select('transaction_id')
    .orderBy('event_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const isBehind = newest && !(await hasReached(db, { transactionId: newest.transaction_id, eventId: 0 }))
  if (log.server === server && !isBehind) return
  const first_transaction_id = log.first_transaction_id + transactionsPerServer
  await db.updateTable('event_log').set({ server, first_transaction_id }).execute()
}

/** The identity of the server, and its timeline, which changes with each recovery from a backup. */
async function findServer(db: Db): Promise<string> {
  const { rows: allowed } = await sql<{ both: boolean }>`
    select has_function_privilege('pg_control_system()', 'execute')
      and has_function_privilege('pg_control_checkpoint()', 'execute') as both`.execute(db)
  if (!allowed[0]?.both) return 'unknown'
  const { rows } = await sql<{ server: string }>`
    select system_identifier || '/' || timeline_id as server from pg_control_system(), pg_control_checkpoint()`.execute(
    db,
  )
  return rows[0]?.server ?? 'unknown'
}
