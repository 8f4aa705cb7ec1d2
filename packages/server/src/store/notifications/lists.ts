import type { Notification } from '@plenum/protocol'
import {
  type Expression,
  expressionBuilder,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from 'kysely'
import { mapYielding } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { sqliteOf } from '../engine/prepared.ts'
import { type Addressee, isOneOf, namesOf, type Recipient } from './recipients.ts'
import type * as scans from '../engine/scan.ts'
import {
  cursorOf,
  inWindow,
  joinParts,
  type Part,
  rowsPerScan,
  scan,
  type Scanning,
  scanningAll,
  type Window,
} from '../engine/scan.ts'
import type { NotificationTable } from '../schema/notification-tables.ts'
import type { Schema } from '../schema/schema.ts'

/** The stored content of a notification. */
export type Content = Omit<
  Notification,
  'id' | 'notifyUsers' | 'notifyUsersByUserId' | 'metadata' | 'timestamp' | 'isUnread' | 'forYou'
> &
  Pick<Notification['metadata'], 'locationId' | 'location'> & {
    /** The users whom a notification about an event names, and whose text it shows. Never presented. */
    shownUsers?: readonly string[]
  }

export interface StoredNotification {
  id: string
  /** Names the notification in the rows of its recipients. */
  key: string
  documentId: string
  content: Content
  timestamp: number
  /** Set only in lists of one user. */
  state?: { isUnread: boolean; forYou: boolean }
}

/** Which notifications a list shows. All given conditions must hold. */
export interface Filter {
  organizationId: string
  documentId?: string
  locationId?: string
  ids?: readonly string[]
  /** The notification is addressed to this user. */
  user?: Addressee
}

/** A notification in a list: its key and the columns that the list is ordered by. */
export interface Position extends scans.Position {
  state?: StoredNotification['state']
  /** Set only in lists of one user. */
  about?: About
}

/** What decides, besides its content, who may read a notification. */
export interface About {
  documentId: string
  annotationId: string | null
}

/** Decides which notifications of a user belong to the list. */
export type KeepVisible = scans.Keep<Position>

/**
 * Finds the next notifications that fit and are not hidden, by timestamp, then key. In lists of one user, `keep` decides which
 * of them belong to the list.
 */
export async function findPositions(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
  scanning: Scanning,
  keep: KeepVisible = (positions) => positions,
): Promise<Part<Position>> {
  const { user, ids, documentId } = filter
  if (ids?.length === 0) return { items: [] }
  const rowsPerStep = rowsPerScan(db)
  const fitting = (positions: FlaggedPosition[]) => positions.filter((position) => position.fits)
  if (!user) {
    if (ids) {
      const rows = await scanning.query(() => allPositions(db, apiKey, filter).execute())
      return { items: inWindow(rows.map(toPosition), cursorOf, window) }
    }
    const steps = [(step: Window) => scanAll(db, apiKey, filter, step)]
    return scan(window, scanning, { steps, cursorOf, keep: fitting, rowsPerStep })
  }
  // A recipient is stored by user id or by email address. Each has a read of its own, which follows the order of an index.
  // Both reads may find the same notification.
  const names = namesOf(user)
  const maxRows = Math.ceil(scanning.rowsLeft / names.length)
  const parts: Part<Position>[] = []
  for (const name of names) {
    if (ids) {
      const items = await keep(await scanning.query(() => findByIds(db, apiKey, filter, name)))
      parts.push({ items: inWindow(items, cursorOf, window) })
      continue
    }
    const steps = [(step: Window) => scanInbox(db, apiKey, filter, name, step)]
    if (documentId !== undefined) steps.push((step) => scanDocument(db, apiKey, filter, name, step))
    const keepFitting = (positions: FlaggedPosition[]) => keep(fitting(positions))
    parts.push(await scan(window, scanning, { steps, cursorOf, keep: keepFitting, rowsPerStep, maxRows }))
  }
  const joined = joinParts(parts, cursorOf, window.order)
  return { ...joined, items: withoutRepetitions(joined.items) }
}

/** The user id comes first, so its state is kept. Repetitions have the same place in the list. */
function withoutRepetitions(positions: readonly Position[]): Position[] {
  return positions.filter(({ key }, index) => positions[index - 1]?.key !== key)
}

/**
 * The notifications at these positions, in their order, without those that were removed since. One that was overwritten, and
 * is about something else now, is left out too.
 */
export async function readPositions(
  db: Db,
  apiKey: string,
  organizationId: string,
  positions: readonly Position[],
): Promise<StoredNotification[]> {
  if (positions.length === 0) return []
  const keys = positions.map(({ key }) => key)
  const rows = await db
    .selectFrom('notifications')
    .select(['notification_id', 'public_id', 'document_id', 'annotation_id', 'data', 'timestamp'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', 'in', keys)
    .execute()
  // Not a condition of the query: for `public_id is not null`, SQLite would search all notifications of the organization.
  const found = new Map(
    rows.flatMap(({ public_id, ...row }) =>
      public_id === null ? [] : [[row.notification_id, { ...row, public_id }]],
    ),
  )
  const there = positions.flatMap(({ key, state, about }) => {
    const row = found.get(key)
    const isSame =
      !about || (row?.document_id === about.documentId && row.annotation_id === about.annotationId)
    return row && isSame ? [{ row, state }] : []
  })
  return mapYielding(there, ({ row, state }) => ({ ...toNotification(row), ...(state && { state }) }))
}

/** The notifications with these ids that fit the filter. */
export async function findMany(
  db: Db,
  apiKey: string,
  filter: Filter & { ids: readonly string[] },
): Promise<Map<string, StoredNotification>> {
  const window = { limit: filter.ids.length, after: undefined, order: 'asc' as const }
  const { items } = await findPositions(db, apiKey, filter, window, scanningAll())
  const found = await readPositions(db, apiKey, filter.organizationId, items)
  // A notification was overwritten between the two reads.
  if (found.length < items.length) return findMany(db, apiKey, filter)
  return new Map(found.map((one) => [one.id, one]))
}

/** The SQL condition of the filter, without its user. Hidden notifications never fit. */
export function fits(
  apiKey: string,
  { organizationId, documentId, locationId, ids }: Filter,
): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'notifications'>()
  return eb.and([
    eb('notifications.api_key', '=', apiKey),
    eb('notifications.organization_id', '=', organizationId),
    eb('notifications.public_id', 'is not', null),
    ...(documentId === undefined ? [] : [ids ? isText('document_id', documentId) : isIn(documentId)]),
    ...(locationId === undefined ? [] : [ids ? isText('location_id', locationId) : isAt(locationId)]),
    ...(ids === undefined ? [] : [eb('notifications.public_id', 'in', ids)]),
  ])
}

const isIn = (documentId: string) => sql<boolean>`notifications.document_id = ${documentId}`

/**
 * Compares with an expression, which has no index. Otherwise SQLite, which has no statistics, would read all notifications of
 * a document to find those with many ids.
 */
const isText = (column: 'document_id' | 'location_id', value: string) =>
  sql<boolean>`${sql.ref(`notifications.${column}`)} || '' = ${value}`

/** An SQL condition for notifications at the location. */
export const isAt = (locationId: string): RawBuilder<boolean> =>
  sql<boolean>`(${isAtSimilar(locationId)} and notifications.location_id = ${locationId})`

/**
 * Exactly the expressions of the index `notifications_at_location`. It has only the beginning of the ids, because whole ids do
 * not fit into an index. Without `is not null` SQLite would not use it.
 */
const isAtSimilar = (locationId: string) => sql<boolean>`
  notifications.location_id is not null
  and substr(notifications.location_id, 1, 64) = substr(cast(${locationId} as text), 1, 64)`

const allPositions = (db: Db, apiKey: string, filter: Filter) =>
  db
    .selectFrom('notifications')
    .select(['notifications.notification_id', 'notifications.timestamp'])
    .where(fits(apiKey, filter))

/** The notifications of a filter without user, in the order of an index. No index contains hidden notifications. */
function inOrder(db: Db, apiKey: string, { locationId, ...indexed }: Filter, window: Window) {
  const rows = ordered(allPositions(db, apiKey, indexed), 'notifications', window)
  // The index of locations begins with the document. Without the document, all notifications are scanned.
  return locationId === undefined || indexed.documentId === undefined
    ? rows
    : rows.where(isAtSimilar(locationId))
}

const hasLocation = ({ locationId }: Filter) =>
  locationId === undefined ? sql<boolean>`1 = 1` : sql<boolean>`location_id = ${locationId}`

async function scanAll(db: Db, apiKey: string, filter: Filter, window: Window) {
  const rows = await inOrder(db, apiKey, filter, window)
    .select(flag(hasLocation(filter)).as('fits'))
    .execute()
  return rows.map(toPosition)
}

/** The notifications of a document, and whether each fits and has this recipient. */
async function scanDocument(db: Db, apiKey: string, filter: Filter, name: Recipient, window: Window) {
  const rows = await withRecipient(inOrder(db, apiKey, filter, window), name)
    .select(flag(sql<boolean>`recipient is not null and ${hasLocation(filter)}`).as('fits'))
    .execute()
  return rows.map(toPosition)
}

/** The notifications with these ids that fit and have this recipient. */
async function findByIds(
  db: Db,
  apiKey: string,
  filter: Filter,
  name: Recipient,
): Promise<FlaggedPosition[]> {
  // A flag and not a condition: with a condition SQLite would read all notifications of the recipient.
  const rows = await withRecipient(allPositions(db, apiKey, filter), name)
    .select(flag(sql<boolean>`recipient is not null`).as('fits'))
    .execute()
  return rows.map(toPosition).filter((position) => position.fits)
}

/** Adds the columns of one recipient, which are null if the notification does not have the recipient. */
const withRecipient = (
  query: SelectQueryBuilder<Schema, 'notifications', { notification_id: string; timestamp: number }>,
  name: Recipient,
) =>
  query
    .leftJoin('notification_recipients', (join) =>
      join
        .onRef('notification_recipients.api_key', '=', 'notifications.api_key')
        .onRef('notification_recipients.organization_id', '=', 'notifications.organization_id')
        .onRef('notification_recipients.notification_id', '=', 'notifications.notification_id')
        .on(isOneOf([name])),
    )
    .select(['is_read', 'for_you', 'notifications.document_id', 'notifications.annotation_id'])

/** The keys of the notifications of one recipient that fit. */
export async function keysInInbox(
  db: Db,
  apiKey: string,
  filter: Filter,
  name: Recipient,
): Promise<string[]> {
  if (filter.ids) return (await findByIds(db, apiKey, filter, name)).map(({ key }) => key)
  const rows = await inbox(db, apiKey, filter, name).select('notifications.notification_id').execute()
  return rows.map((row) => row.notification_id)
}

/** The notifications of one recipient that fit. */
const inbox = (db: Db, apiKey: string, filter: Filter, name: Recipient) =>
  received(db, apiKey, filter, name)
    .innerJoin('notifications', (join) =>
      join
        .onRef('notifications.api_key', '=', 'notification_recipients.api_key')
        .onRef('notifications.organization_id', '=', 'notification_recipients.organization_id')
        .onRef('notifications.notification_id', '=', 'notification_recipients.notification_id'),
    )
    .where(fits(apiKey, filter))

const inboxColumns = [
  'notification_recipients.notification_id',
  'notification_recipients.timestamp',
  'is_read',
  'for_you',
] as const

const received = (db: Db, apiKey: string, { organizationId }: Filter, name: Recipient) =>
  db
    .selectFrom('notification_recipients')
    .where('notification_recipients.api_key', '=', apiKey)
    .where('notification_recipients.organization_id', '=', organizationId)
    .where(isOneOf([name]))

// In two statements: for a join, PostgreSQL may read all notifications of the organization for each row.
async function scanInbox(db: Db, apiKey: string, filter: Filter, name: Recipient, window: Window) {
  const rows = await ordered(received(db, apiKey, filter, name), 'notification_recipients', window)
    .select(inboxColumns)
    .execute()
  const keys = rows.map((row) => row.notification_id)
  const found = await db
    .selectFrom('notifications')
    .select(['notification_id', 'document_id', 'annotation_id'])
    // A flag and not a condition: with a condition, SQLite would search all notifications of the organization.
    .select(flag(fits(apiKey, filter)).as('fits'))
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', filter.organizationId)
    .where(
      sqliteOf(db)
        ? sql<boolean>`notification_id in (${sql.join(keys)})`
        : sql<boolean>`notification_id = any(${keys})`,
    )
    .execute()
  const notifications = new Map(found.map((row) => [row.notification_id, row]))
  return rows.map((row) => toPosition({ fits: 0, ...row, ...notifications.get(row.notification_id) }))
}

/** The next notifications of one recipient that fit. Scans few rows. Returns `next` if there may be more behind it. */
export async function someInInbox(
  db: Db,
  apiKey: string,
  filter: Filter,
  name: Recipient,
  { max, after }: { max: number; after: Cursor | undefined },
): Promise<{ keys: string[]; next: Cursor | undefined }> {
  // Two statements read each of these rows, in a transaction that removes some of them.
  const limit = rowsPerScan(db) / 2
  const rows = await scanInbox(db, apiKey, filter, name, { limit, after, order: 'asc' })
  const fitting = rows.filter((row) => row.fits)
  const some = fitting.slice(0, max)
  const last = some.length < fitting.length ? some.at(-1) : rows.length === limit ? rows.at(-1) : undefined
  return { keys: some.map(({ key }) => key), next: last && cursorOf(last) }
}

const flag = (condition: Expression<SqlBool>) => sql<number>`case when ${condition} then 1 else 0 end`

/** One step through the rows, behind the cursor `after`. */
function ordered<D, T extends keyof D, O>(
  query: SelectQueryBuilder<D, T, O>,
  table: 'notifications' | 'notification_recipients',
  { limit, after, order }: Window,
): SelectQueryBuilder<D, T, O> {
  const columns = [sql.ref(`${table}.timestamp`), sql.ref(`${table}.notification_id`)]
  let step = query.limit(limit)
  for (const column of columns) step = step.orderBy(column, order)
  if (!after) return step
  const behind = sql.raw(order === 'asc' ? '>' : '<')
  return step.where(sql<boolean>`(${sql.join(columns)}) ${behind} (${sql.join(after)})`)
}

interface PositionRow {
  notification_id: string
  timestamp: number
  is_read?: number | null
  for_you?: number | null
  document_id?: string | null
  annotation_id?: string | null
  fits?: number
}

interface FlaggedPosition extends Position {
  fits: boolean
}

const toPosition = (row: PositionRow): FlaggedPosition => ({
  key: row.notification_id,
  timestamp: row.timestamp,
  ...(row.is_read !== undefined && { state: { isUnread: row.is_read === 0, forYou: row.for_you === 1 } }),
  ...(row.document_id != null && {
    about: { documentId: row.document_id, annotationId: row.annotation_id ?? null },
  }),
  fits: row.fits === 1,
})

type Row = Pick<NotificationTable, 'notification_id' | 'document_id' | 'data' | 'timestamp'> & {
  public_id: string
}

const toNotification = (row: Row): StoredNotification => ({
  id: row.public_id,
  key: row.notification_id,
  documentId: row.document_id,
  content: parse(row.data),
  timestamp: row.timestamp,
})
