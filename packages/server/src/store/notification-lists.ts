import type { Notification } from '@plenum/protocol'
import { type Expression, expressionBuilder, type SqlBool } from 'kysely'
import { mapInTurns } from '../platform/loop-time.ts'
import type { Cursor, Db } from './db.ts'
import { parse } from './json.ts'
import { type Addressee, isOneOf, namesOf, type Recipient } from './notification-recipients.ts'
import type { NotificationTable, Schema } from './schema.ts'

/** What is kept of a notification as it was sent. */
export type Content = Omit<
  Notification,
  'id' | 'notifyUsers' | 'notifyUsersByUserId' | 'metadata' | 'timestamp' | 'isUnread' | 'forYou'
> &
  Pick<Notification['metadata'], 'locationId' | 'location'>

export interface StoredNotification {
  id: string
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

/** By timestamp, then id. */
export async function list(
  db: Db,
  apiKey: string,
  filter: Filter,
  window: Window,
): Promise<StoredNotification[]> {
  if (filter.ids?.length === 0) return []
  if (!filter.user) return listAll(db, apiKey, filter, window)
  // One read for each name keeps to the order of the index. What both find is the same notification.
  const found = new Map<string, StoredNotification>()
  for (const name of namesOf(filter.user)) {
    for (const one of await listInbox(db, apiKey, filter, name, window)) {
      if (!found.has(one.id)) found.set(one.id, one)
    }
  }
  const sign = window.order === 'asc' ? 1 : -1
  return [...found.values()]
    .sort((a, b) => sign * (a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1)))
    .slice(0, window.limit)
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

/** The filter without its user. */
export function fits(
  apiKey: string,
  { organizationId, documentId, locationId, ids }: Filter,
): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'notifications'>()
  return eb.and([
    eb('notifications.api_key', '=', apiKey),
    eb('notifications.organization_id', '=', organizationId),
    ...(documentId === undefined ? [] : [eb('notifications.document_id', '=', documentId)]),
    ...(locationId === undefined ? [] : [eb('notifications.location_id', '=', locationId)]),
    ...(ids === undefined ? [] : [eb('notifications.notification_id', 'in', ids)]),
  ])
}

/** What went to one recipient and fits. */
export const inbox = (db: Db, apiKey: string, filter: Filter, name: Recipient) =>
  db
    .selectFrom('notification_recipients')
    .innerJoin('notifications', (join) =>
      join
        .onRef('notifications.api_key', '=', 'notification_recipients.api_key')
        .onRef('notifications.organization_id', '=', 'notification_recipients.organization_id')
        .onRef('notifications.notification_id', '=', 'notification_recipients.notification_id'),
    )
    .where('notification_recipients.api_key', '=', apiKey)
    .where('notification_recipients.organization_id', '=', filter.organizationId)
    .where(isOneOf([name]))
    .where(fits(apiKey, filter))

const columns = ['notifications.notification_id', 'document_id', 'data', 'notifications.timestamp'] as const

async function listInbox(
  db: Db,
  apiKey: string,
  filter: Filter,
  name: Recipient,
  { limit, after, order }: Window,
): Promise<StoredNotification[]> {
  let query = inbox(db, apiKey, filter, name)
    .select([...columns, 'is_read', 'for_you'])
    .orderBy('notification_recipients.timestamp', order)
    .orderBy('notification_recipients.notification_id', order)
    .limit(limit)
  if (after) {
    const [timestamp, id] = after as [number, string]
    query = query.where((eb) =>
      eb(
        eb.refTuple('notification_recipients.timestamp', 'notification_recipients.notification_id'),
        order === 'asc' ? '>' : '<',
        eb.tuple(timestamp, id),
      ),
    )
  }
  return mapInTurns(await query.execute(), (row) => ({
    ...toNotification(row),
    state: { isUnread: row.is_read === 0, forYou: row.for_you === 1 },
  }))
}

async function listAll(
  db: Db,
  apiKey: string,
  filter: Filter,
  { limit, after, order }: Window,
): Promise<StoredNotification[]> {
  let query = db
    .selectFrom('notifications')
    .select(columns)
    .where(fits(apiKey, filter))
    .orderBy('timestamp', order)
    .orderBy('notification_id', order)
    .limit(limit)
  if (after) {
    const [timestamp, id] = after as [number, string]
    query = query.where((eb) =>
      eb(eb.refTuple('timestamp', 'notification_id'), order === 'asc' ? '>' : '<', eb.tuple(timestamp, id)),
    )
  }
  return mapInTurns(await query.execute(), toNotification)
}

type Row = Pick<NotificationTable, 'notification_id' | 'document_id' | 'data' | 'timestamp'>

const toNotification = (row: Row): StoredNotification => ({
  id: row.notification_id,
  documentId: row.document_id,
  content: parse(row.data),
  timestamp: row.timestamp,
})
