import type { RecordedName } from '@plenum/protocol'
import { sql } from 'kysely'
import type { Audience } from './comments/audience.ts'
import { batched } from './engine/batched.ts'
import type { Db } from './engine/db.ts'
import { parse } from './engine/json.ts'
import { sqliteOf } from './engine/prepared.ts'

/** A change to be recorded, in the transaction that makes it. */
export interface NewEvent {
  name: RecordedName
  organizationId?: string
  documentId?: string
  annotationId?: string
  /** The user who made the change. */
  actorId?: string | undefined
  /** Who may see what the event is about; null or absent: everyone who can read the document. */
  audience?: Audience | null
  /** Whether users are notified and webhooks are called. */
  notifies: boolean
  payload: Record<string, unknown>
}

export interface StoredEvent extends NewEvent {
  number: number
  position: EventPosition
  timestamp: number
}

/** A place in the event log. Events are ordered by it. */
export interface EventPosition {
  transactionId: number
  eventId: number
}

export interface EventFilter {
  names?: readonly RecordedName[] | undefined
  organizationId?: string | undefined
  documentId?: string | undefined
}

/** Appends events to the log of the API key. They become visible with the transaction. */
export async function add(db: Db, apiKey: string, events: readonly NewEvent[], now: number): Promise<void> {
  const rows = events.map((event) => ({
    api_key: apiKey,
    name: event.name,
    organization_id: event.organizationId ?? null,
    document_id: event.documentId ?? null,
    annotation_id: event.annotationId ?? null,
    actor_id: event.actorId ?? null,
    audience: event.audience ? JSON.stringify(event.audience) : null,
    notifies: event.notifies ? 1 : 0,
    payload: JSON.stringify(event.payload),
    created_at: now,
  }))
  await insert(db, rows)
}

const insert = batched(
  {
    api_key: 'text',
    name: 'text',
    organization_id: 'text',
    document_id: 'text',
    annotation_id: 'text',
    actor_id: 'text',
    audience: 'text',
    notifies: 'bigint',
    payload: 'text',
    created_at: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into events (api_key, name, organization_id, document_id, annotation_id, actor_id, audience, notifies, payload,
      created_at)
    select ${row.api_key}, ${row.name}, ${row.organization_id}, ${row.document_id}, ${row.annotation_id}, ${row.actor_id},
      ${row.audience}, ${row.notifies}, ${row.payload}, ${row.created_at} ${fromRows}`,
)

/** A payload may have 80 KiB, so few are read by one statement. */
const rowsPerRead = 100

/**
 * Reads the events after a position that fit, up to `limit`, among the next rows of the log. `last` is the position of the
 * last row that was looked at, and `hasMore` says whether there may be more rows behind it.
 *
 * On PostgreSQL a transaction may get its number early and commit late. So only events of transactions are read that began
 * before every transaction that is still in progress: nothing can appear before them any more.
 */
export async function read(
  db: Db,
  apiKey: string,
  after: EventPosition | undefined,
  filter: EventFilter,
  limit: number,
): Promise<{ events: StoredEvent[]; last: EventPosition | undefined; hasMore: boolean }> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('api_key', '=', apiKey)
    .orderBy('transaction_id')
    .orderBy('event_id')
    .limit(Math.min(limit, rowsPerRead))
  if (after) {
    const { transactionId, eventId } = after
    query = query.where(sql<boolean>`(transaction_id, event_id) > (${transactionId}, ${eventId})`)
  }
  if (!sqliteOf(db)) query = query.where(isSettled)
  const rows = await query.execute()
  const positions = rows.map((row) => ({ transactionId: row.transaction_id, eventId: row.event_id }))
  const events = rows.flatMap((row, index) => {
    const fits =
      (!filter.names || filter.names.includes(row.name as RecordedName)) &&
      (filter.organizationId === undefined || row.organization_id === filter.organizationId) &&
      (filter.documentId === undefined || row.document_id === filter.documentId)
    if (!fits) return []
    return {
      name: row.name as RecordedName,
      number: row.event_id,
      position: positions[index] as EventPosition,
      ...(row.organization_id !== null && { organizationId: row.organization_id }),
      ...(row.document_id !== null && { documentId: row.document_id }),
      ...(row.annotation_id !== null && { annotationId: row.annotation_id }),
      actorId: row.actor_id ?? undefined,
      audience: row.audience === null ? null : parse<Audience>(row.audience),
      notifies: row.notifies === 1,
      payload: parse<Record<string, unknown>>(row.payload),
      timestamp: row.created_at,
    }
  })
  return { events, last: positions.at(-1) ?? after, hasMore: rows.length === Math.min(limit, rowsPerRead) }
}

const isSettled = sql<boolean>`transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`

/** The position up to which events of the API key were removed because of their age. */
export async function findPruned(db: Db, apiKey: string): Promise<EventPosition | undefined> {
  const row = await db
    .selectFrom('pruned_events')
    .select(['transaction_id', 'event_id'])
    .where('api_key', '=', apiKey)
    .executeTakeFirst()
  return row && { transactionId: row.transaction_id, eventId: row.event_id }
}

export const isBefore = (a: EventPosition, b: EventPosition): boolean =>
  a.transactionId - b.transactionId < 0 || (a.transactionId === b.transactionId && a.eventId < b.eventId)

/** Removes up to `maxRows` events that are older than `before`, and records up to where. Returns how many it removed. */
export async function prune(db: Db, before: number, maxRows: number): Promise<number> {
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'api_key', 'transaction_id'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(maxRows)
    .execute()
  if (rows.length === 0) return 0
  const newest = new Map<string, EventPosition>()
  for (const { api_key, transaction_id, event_id } of rows) {
    const position = { transactionId: transaction_id, eventId: event_id }
    const known = newest.get(api_key)
    if (!known || isBefore(known, position)) newest.set(api_key, position)
  }
  for (const [apiKey, { transactionId, eventId }] of newest) {
    const known = await findPruned(db, apiKey)
    if (known && !isBefore(known, { transactionId, eventId })) continue
    const columns = { transaction_id: transactionId, event_id: eventId }
    await db
      .insertInto('pruned_events')
      .values({ api_key: apiKey, ...columns })
      .onConflict((conflict) => conflict.column('api_key').doUpdateSet(columns))
      .execute()
  }
  const ids = rows.map((row) => row.event_id)
  await db.deleteFrom('events').where('event_id', 'in', ids).execute()
  return rows.length
}
