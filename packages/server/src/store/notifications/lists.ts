import type { Notification } from '@plenum/protocol'
import {
  type Expression,
  expressionBuilder,
  type NotNull,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from 'kysely'
import { breathe, mapInTurns } from '../../platform/turns/loop-time.ts'
import type { Cursor, Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { type Addressee, isOneOf, namesOf, type Recipient } from './recipients.ts'
import { sqliteOf } from '../engine/prepared.ts'
import type { NotificationTable } from '../schema/notification-tables.ts'
import type { Schema } from '../schema/schema.ts'

/** What is kept of a notification as it was sent. */
export type Content = Omit<
  Notification,
  'id' | 'notifyUsers' | 'notifyUsersByUserId' | 'metadata' | 'timestamp' | 'isUnread' | 'forYou'
> &
  Pick<Notification['metadata'], 'locationId' | 'location'>

export interface StoredNotification {
  id: string
  /** What the rows of its recipients name it by. */
  key: string
  documentId: string
  content: Content
  timestamp: number
  /** In reads for one user. */
  state?: { isUnread: boolean; forYou: boolean }
}

/** All that is given must fit. */
export interface Filter {
  organizationId: string
  documentId?: string
  locationId?: string
  ids?: readonly string[]
  /** Addressed to this user. */
  user?: Addressee
}

export interface Window {
  limit: number
  after: Cursor | undefined
  order: 'asc' | 'desc'
}

/** Rows that one statement looks through for what fits: about 2 ms of SQLite; to PostgreSQL each is a way there and back. */
const scannedTogether = (db: Db) => (sqliteOf(db) ? 200 : 2000)

/** By timestamp, then key. */
export async function list(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
): Promise<StoredNotification[]> {
  const places = await findPlaces(db, apiKey, filter, window)
  const listed = await readPlaces(db, apiKey, filter, places)
  // One that was overwritten or removed between the two reads: another one may be in its place.
  return listed.length < places.length ? list(db, apiKey, filter, window) : listed
}

async function readPlaces(
  db: Db,
  apiKey: string,
  { organizationId }: Filter,
  places: readonly Place[],
): Promise<StoredNotification[]> {
  if (places.length === 0) return []
  const keys = places.map(({ key }) => key)
  const rows = await db
    .selectFrom('notifications')
    .select(['notification_id', 'public_id', 'document_id', 'data', 'timestamp'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', 'in', keys)
    .where('public_id', 'is not', null)
    .$narrowType<{ public_id: NotNull }>()
    .execute()
  const found = new Map(rows.map((row) => [row.notification_id, row]))
  const there = places.flatMap(({ key, state }) => {
    const row = found.get(key)
    return row ? [{ row, state }] : []
  })
  return mapInTurns(there, ({ row, state }) => ({ ...toNotification(row), ...(state && { state }) }))
}

/** Those of the ids that fit the filter. */
export async function findMany(
  db: Db,
  apiKey: string,
  filter: Filter & { ids: readonly string[] },
): Promise<Map<string, StoredNotification>> {
  const found = await list(db, apiKey, filter, { limit: filter.ids.length, after: undefined, order: 'asc' })
  return new Map(found.map((one) => [one.id, one]))
}

/** Where a notification stands in a list. */
interface Place {
  key: string
  timestamp: number
  state?: StoredNotification['state']
}

/** Every notification that fits, and is not hidden, in the order of the list. */
async function findPlaces(db: Db, apiKey: string, filter: Filter, window: Window): Promise<Place[]> {
  const { user, ids, locationId } = filter
  if (ids?.length === 0) return []
  if (!user) {
    // The indexes hold nothing that is hidden. Locations have none: their ids are too long for one.
    if (ids) return inWindow(await allPlaces(db, apiKey, filter).execute().then(toPlaces), window)
    const { locationId: _, ...indexed } = filter
    const step = (window: Window) => {
      const rows = ordered(allPlaces(db, apiKey, indexed), 'notifications', window)
      return rows.select((eb) =>
        flag(locationId === undefined ? eb.lit(true) : eb('location_id', '=', locationId)).as('fits'),
      )
    }
    return scan(db, window, async (window) => (await step(window).execute()).map(toPlace))
  }
  // One read for each name keeps to the order of the index. What both find is the same notification.
  const found = new Map<string, Place>()
  for (const name of namesOf(user)) {
    const places = ids
      ? toPlaces(await inbox(db, apiKey, filter, name).select(inboxColumns).execute())
      : await scan(db, window, (window) => scanInbox(db, apiKey, filter, name, window))
    for (const place of places) if (!found.has(place.key)) found.set(place.key, place)
  }
  return inWindow([...found.values()], window)
}

/** Looks through rows in order, in short steps, until there are enough that fit. */
async function scan(
  db: Db,
  window: Window,
  step: (window: Window) => Promise<(Place & { fits: boolean })[]>,
): Promise<Place[]> {
  const found: Place[] = []
  let { limit, after } = window
  for (;;) {
    const rows = await step({ ...window, limit, after })
    for (const { fits, ...place } of rows) if (fits) found.push(place)
    const last = rows.at(-1)
    if (!last || rows.length < limit || found.length >= window.limit) return found.slice(0, window.limit)
    after = [last.timestamp, last.key]
    limit = scannedTogether(db)
    await breathe()
  }
}

/** The filter without its user. Nothing that is hidden fits. */
export function fits(
  apiKey: string,
  { organizationId, documentId, locationId, ids }: Filter,
): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'notifications'>()
  return eb.and([
    eb('notifications.api_key', '=', apiKey),
    eb('notifications.organization_id', '=', organizationId),
    eb('notifications.public_id', 'is not', null),
    ...(documentId === undefined ? [] : [eb('notifications.document_id', '=', documentId)]),
    ...(locationId === undefined ? [] : [eb('notifications.location_id', '=', locationId)]),
    ...(ids === undefined ? [] : [eb('notifications.public_id', 'in', ids)]),
  ])
}

const allPlaces = (db: Db, apiKey: string, filter: Filter) =>
  db.selectFrom('notifications').select(['notification_id', 'timestamp']).where(fits(apiKey, filter))

/** What went to one recipient and fits. */
export const inbox = (db: Db, apiKey: string, filter: Filter, name: Recipient) =>
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

/** What went to one recipient, and whether it fits. */
async function scanInbox(db: Db, apiKey: string, filter: Filter, name: Recipient, window: Window) {
  const rows = await ordered(received(db, apiKey, filter, name), 'notification_recipients', window)
    .select(inboxColumns)
    .select((eb) =>
      flag(
        eb.exists(
          eb
            .selectFrom('notifications')
            .select('notifications.timestamp')
            .whereRef('notifications.notification_id', '=', 'notification_recipients.notification_id')
            .where(fits(apiKey, filter)),
        ),
      ).as('fits'),
    )
    .execute()
  return rows.map(toPlace)
}

/** The next notifications that went to one recipient and fit. Looks through few rows; there may be more behind `next`. */
export async function someInInbox(
  db: Db,
  apiKey: string,
  filter: Filter,
  name: Recipient,
  { max, after }: { max: number; after: Cursor | undefined },
): Promise<{ keys: string[]; next: Cursor | undefined }> {
  const limit = scannedTogether(db)
  const rows = await scanInbox(db, apiKey, filter, name, { limit, after, order: 'asc' })
  const fitting = rows.filter((row) => row.fits)
  const some = fitting.slice(0, max)
  const last = some.length < fitting.length ? some.at(-1) : rows.length === limit ? rows.at(-1) : undefined
  return { keys: some.map(({ key }) => key), next: last && [last.timestamp, last.key] }
}

const flag = (condition: Expression<SqlBool>) => sql<number>`case when ${condition} then 1 else 0 end`

/** One step through the rows, behind the one that `after` names. */
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

interface PlaceRow {
  notification_id: string
  timestamp: number
  is_read?: number
  for_you?: number
  fits?: number
}

const toPlace = ({ notification_id: key, timestamp, is_read, for_you, fits }: PlaceRow) => ({
  key,
  timestamp,
  ...(is_read !== undefined && { state: { isUnread: is_read === 0, forYou: for_you === 1 } }),
  fits: fits === 1,
})

const toPlaces = (rows: readonly PlaceRow[]): Place[] => rows.map(toPlace)

/** The part of the list that the window shows. */
function inWindow(places: readonly Place[], { limit, after, order }: Window): Place[] {
  const sign = order === 'asc' ? 1 : -1
  const compare = (a: Pick<Place, 'key' | 'timestamp'>, b: Pick<Place, 'key' | 'timestamp'>) =>
    sign * (a.timestamp - b.timestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const [timestamp, key] = (after ?? [0, '']) as [number, string]
  const behind = after ? places.filter((one) => compare(one, { timestamp, key }) > 0) : places
  return behind.toSorted(compare).slice(0, limit)
}

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
