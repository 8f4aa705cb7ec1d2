import type { RecordedName } from '@plenum/protocol'
import { sql } from 'kysely'
import type { Audience } from './comments/audience.ts'
import { batched } from './engine/batched.ts'
import type { Db } from './engine/db.ts'
import { parse } from './engine/json.ts'
import { sqliteOf } from './engine/prepared.ts'
import { currentTransactionId, type EventPosition, isBefore, isSettled, origin } from './event-log.ts'
import { shownBytes, withSnapshots } from './event-snapshots.ts'
import type { EventTable } from './schema/comment-tables.ts'

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
  /** The events of a call with the same id are about the same annotation. Only the first of them has it in its payload. */
  snapshotId?: string | undefined
}

export interface StoredEvent extends NewEvent {
  number: number
  timestamp: number
}

export interface EventFilter {
  names?: readonly RecordedName[] | undefined
  organizationId?: string | undefined
  documentId?: string | undefined
  /** Keeps events as far as their annotations decide. */
  keep?: (<Row extends { annotationId: string | null }>(rows: readonly Row[]) => Promise<Row[]>) | undefined
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
    snapshot_id: event.snapshotId ?? null,
  }))
  await insert(db, rows)
}

const columns = {
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
  snapshot_id: 'text',
} as const

const insert = batched(
  columns,
  ({ row, fromRows, isPostgres }) => sql`
    insert into events (transaction_id, api_key, name, organization_id, document_id, annotation_id, actor_id, audience,
      notifies, payload, created_at, snapshot_id)
    select ${currentTransactionId(isPostgres)}, ${row.api_key}, ${row.name}, ${row.organization_id}, ${row.document_id}, ${row.annotation_id}, ${row.actor_id},
      ${row.audience}, ${row.notifies}, ${row.payload}, ${row.created_at}, ${row.snapshot_id} ${fromRows}`,
)

/** One statement looks at this many rows, without their payloads. */
const rowsPerScan = 500

interface ReadOptions {
  after: EventPosition | undefined
  filter: EventFilter
  limit: number
  /** Payloads are read up to this size, but always one. */
  maxBytes: number
}

/** An event and its place in the log. */
export interface ReadEvent extends StoredEvent {
  position: EventPosition
}

export interface EventBatch {
  events: ReadEvent[]
  bytes: number
  /** The position of the last row that was looked at. */
  last: EventPosition | undefined
  /** Whether there may be more rows behind it. */
  hasMore: boolean
}

/** Reads the events that fit among the next rows of the log. A filter is applied to limited rows, so no read takes long. */
export async function read(db: Db, apiKey: string, options: ReadOptions): Promise<EventBatch> {
  const { after, filter, limit, maxBytes } = options
  const { names, organizationId, documentId, keep } = filter
  const scanned = names || organizationId !== undefined ? rowsPerScan : limit
  const rows = await scan(db, apiKey, after, scanned)
  const fitting = rows.filter(
    (row) =>
      (!names || names.includes(row.name as RecordedName)) &&
      (organizationId === undefined || row.organization_id === organizationId) &&
      (documentId === undefined || row.document_id === documentId),
  )
  const kept = new Set(keep ? await keep(fitting) : fitting)
  const chosen: EventPosition[] = []
  let bytes = 0
  let last = after
  for (const row of rows) {
    const fits = kept.has(row)
    const position = { transactionId: row.transaction_id, eventId: row.event_id }
    const isTooMuch = chosen.length === limit || (chosen.length > 0 && bytes + row.bytes > maxBytes)
    if (fits && isTooMuch) return { events: await findMany(db, apiKey, chosen), bytes, last, hasMore: true }
    if (fits) {
      chosen.push(position)
      bytes += row.bytes
    }
    last = position
  }
  const hasMore = rows.length === scanned
  return { events: await findMany(db, apiKey, chosen), bytes, last, hasMore }
}

async function scan(db: Db, apiKey: string, after: EventPosition | undefined, limit: number) {
  let query = db
    .selectFrom('events')
    .select(['event_id', 'transaction_id', 'name', 'organization_id', 'document_id'])
    .select('annotation_id as annotationId')
    .select(shownBytes.as('bytes'))
    .where('api_key', '=', apiKey)
    .orderBy('transaction_id')
    .orderBy('event_id')
    .limit(limit)
  if (after) {
    const { transactionId, eventId } = after
    query = query.where(sql<boolean>`(transaction_id, event_id) > (${transactionId}, ${eventId})`)
  }
  if (!sqliteOf(db)) query = query.where(isSettled)
  return query.execute()
}

/** The events at these positions, in their order. One that was removed meanwhile is left out. */
async function findMany(db: Db, apiKey: string, positions: readonly EventPosition[]): Promise<ReadEvent[]> {
  const rows = await selectMany(
    db,
    positions.map(({ eventId }) => ({ api_key: apiKey, event_id: eventId })),
  )
  const found = new Map(rows.map((row) => [row.event_id, toEvent(row)]))
  const events = positions.flatMap((position) => {
    const event = found.get(position.eventId)
    return event ? [{ ...event, position }] : []
  })
  return withSnapshots(db, apiKey, events)
}

const selectMany = batched<'api_key' | 'event_id', Omit<EventTable, 'transaction_id'>>(
  { api_key: 'text', event_id: 'bigint' },
  ({ row, fromRows, isPostgres }) => {
    const isRow = sql`e.event_id = ${row.event_id} and e.api_key = ${row.api_key}`
    const selected = sql.join(['event_id', ...Object.keys(columns)].map((name) => sql.ref(`e.${name}`)))
    return isPostgres
      ? sql`select ${selected} ${fromRows} join events as e on ${isRow}`
      : sql`select ${selected} from events as e where ${isRow}`
  },
)

const toEvent = (row: Omit<EventTable, 'transaction_id'>): StoredEvent => ({
  name: row.name as RecordedName,
  number: row.event_id,
  ...(row.organization_id !== null && { organizationId: row.organization_id }),
  ...(row.document_id !== null && { documentId: row.document_id }),
  ...(row.annotation_id !== null && { annotationId: row.annotation_id }),
  actorId: row.actor_id ?? undefined,
  audience: row.audience === null ? null : parse<Audience>(row.audience),
  notifies: row.notifies === 1,
  payload: parse<Record<string, unknown>>(row.payload),
  timestamp: row.created_at,
  snapshotId: row.snapshot_id ?? undefined,
})

/** The position of the newest event that readers get. */
export async function findNewestSettled(db: Db, apiKey: string): Promise<EventPosition> {
  let query = newestOf(db, apiKey)
  if (!sqliteOf(db)) query = query.where(isSettled)
  return positionOf(await query.executeTakeFirst()) ?? origin
}

const newestOf = (db: Db, apiKey: string) =>
  db
    .selectFrom('events')
    .select(['transaction_id', 'event_id'])
    .where('api_key', '=', apiKey)
    .orderBy('transaction_id', 'desc')
    .orderBy('event_id', 'desc')
    .limit(1)

const positionOf = (
  row: Pick<EventTable, 'transaction_id' | 'event_id'> | undefined,
): EventPosition | undefined => row && { transactionId: row.transaction_id, eventId: row.event_id }

/** The position of the newest event that the API key has, or had before it was removed because of its age. */
export async function findNewest(db: Db, apiKey: string): Promise<EventPosition> {
  const there = positionOf(await newestOf(db, apiKey).executeTakeFirst())
  const pruned = await findPruned(db, apiKey)
  if (there && pruned) return isBefore(there, pruned) ? pruned : there
  return there ?? pruned ?? origin
}

/** The position up to which events of the API key were removed because of their age. */
export async function findPruned(db: Db, apiKey: string): Promise<EventPosition | undefined> {
  const row = await db
    .selectFrom('pruned_events')
    .select(['transaction_id', 'event_id'])
    .where('api_key', '=', apiKey)
    .executeTakeFirst()
  return positionOf(row)
}

/** SQLite takes 10 to 20 ms to delete a mebibyte. */
const maxBytesPerPrune = 512 * 1024

/** Removes up to `maxRows` events that are older than `before`, and records up to where. Returns how many it removed. */
export async function prune(db: Db, before: number, maxRows: number): Promise<number> {
  const old = await db
    .selectFrom('events')
    .select(['event_id', 'api_key', 'transaction_id'])
    .select(sql<number>`octet_length(payload)`.as('bytes'))
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(maxRows)
    .execute()
  let bytes = 0
  const rows = old.filter((row, index) => (bytes += row.bytes) <= maxBytesPerPrune || index === 0)
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
