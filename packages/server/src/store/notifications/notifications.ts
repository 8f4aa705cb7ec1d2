import { type Expression, expressionBuilder, type NotNull, sql, type SqlBool } from 'kysely'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { Db } from '../engine/db.ts'
import * as deletions from '../deletions.ts'
import { stringifyData } from '../engine/json.ts'
import { type Content, type Filter, fits, keysInInbox, type StoredNotification } from './lists.ts'
import type { Addressee, NewRecipient } from './recipients.ts'
import * as recipients from './recipients.ts'
import { namesOf } from './recipients.ts'
import { fitOneTransaction, sizeOf } from '../engine/transaction-size.ts'
import type { Schema } from '../schema/schema.ts'
import { slices } from '../engine/slices.ts'

type NewNotification = StoredNotification & { organizationId: string }

/** Used only if notifications have too many recipients for one transaction, and must be removed in steps. */
export interface DeletionIfLarge {
  /** The id for the deletion. */
  deletionId: string
  now: number
  /** Called if the deletion was recorded. The deletion can run after the commit. */
  onHidden: () => void
}

/**
 * Adds the notification, or overwrites the one with the same id, which is then new and unread again. An overwritten
 * notification keeps its key, unless it has many recipients.
 */
export async function put(
  db: Db,
  apiKey: string,
  { key, ...notification }: NewNotification,
  to: AsyncIterable<readonly NewRecipient[]>,
  later: DeletionIfLarge,
): Promise<void> {
  const { organizationId, id, timestamp } = notification
  const there = await findKeys(db, apiKey, { organizationId, ids: [id] })
  await hideIfLarge(db, apiKey, organizationId, [...there.values()], later)
  const columns = columnsOf(notification)
  const stored = await db
    .insertInto('notifications')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      notification_id: key,
      public_id: id,
      ...columns,
    })
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'public_id']).doUpdateSet(columns),
    )
    .returning('notification_id as key')
    .executeTakeFirstOrThrow()
  await recipients.replace(db, apiKey, { organizationId, key: stored.key, timestamp }, to)
}

/** Adds a notification with a new id. */
export async function add(
  db: Db,
  apiKey: string,
  { key, ...notification }: NewNotification,
  to: readonly NewRecipient[],
): Promise<void> {
  const { organizationId, id, timestamp } = notification
  const keys = { api_key: apiKey, organization_id: organizationId, notification_id: key, public_id: id }
  await db
    .insertInto('notifications')
    .values({ ...keys, ...columnsOf(notification) })
    .execute()
  await recipients.add(db, apiKey, { organizationId, key, timestamp }, to)
}

/** Adds a hidden notification, and a deletion that removes it later, unless `show` is called before. */
export async function addHidden(
  db: Db,
  apiKey: string,
  { key, ...notification }: NewNotification,
  { deletionId, now }: { deletionId: string; now: number },
): Promise<void> {
  const { organizationId } = notification
  await db
    .insertInto('notifications')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      notification_id: key,
      public_id: null,
      ...columnsOf(notification),
    })
    .execute()
  const scope = { organizationId, hiddenNotifications: [key] }
  await deletions.add(db, { deletionId, apiKey, scope }, now, { isLeased: true })
}

/** Adds recipients to a hidden notification. Returns false if it was removed, or is being removed. */
export async function addRecipients(
  db: Db,
  apiKey: string,
  notification: { organizationId: string; key: string; timestamp: number },
  some: readonly NewRecipient[],
  { deletionId, now }: { deletionId: string; now: number },
): Promise<boolean> {
  const { organizationId, key } = notification
  if (!(await deletions.renew(db, apiKey, deletionId, now))) return false
  const isNotification = hasKeys(apiKey, organizationId, [key])
  const row = await db
    .selectFrom('notifications')
    .select('timestamp')
    .where(isNotification)
    .executeTakeFirst()
  if (!row) return false
  await recipients.add(db, apiKey, notification, some)
  return true
}

/** Shows a hidden notification in place of the one with the same id. Returns false if it was removed, or is being removed. */
export async function show(
  db: Db,
  apiKey: string,
  { organizationId, id, key }: { organizationId: string; id: string; key: string },
  deletionId: string,
  later: DeletionIfLarge,
): Promise<boolean> {
  if (!(await deletions.finish(db, apiKey, deletionId))) return false
  await remove(db, apiKey, { organizationId, ids: [id] }, later)
  const { numUpdatedRows } = await db
    .updateTable('notifications')
    .set({ public_id: id })
    .where(hasKeys(apiKey, organizationId, [key]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const locationColumn = ({ locationId }: Content) => (locationId === undefined ? null : String(locationId))

const columnsOf = ({ id, documentId, content, timestamp }: Omit<NewNotification, 'key'>) => ({
  document_id: documentId,
  location_id: locationColumn(content),
  annotation_id: content.targetAnnotationId ?? null,
  data: stringifyData(content, `notification ${id}`),
  timestamp,
})

/**
 * If the notifications have too many recipients for one transaction, hides them, records a deletion that removes them in
 * steps, and returns true.
 */
async function hideIfLarge(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: readonly string[],
  { deletionId, now, onHidden }: DeletionIfLarge,
): Promise<boolean> {
  if (keys.length === 0 || (await areSmall(db, apiKey, organizationId, keys))) return false
  const scope = { organizationId, hiddenNotifications: keys }
  const isNotification = hasKeys(apiKey, organizationId, keys)
  await db.updateTable('notifications').set({ public_id: null }).where(isNotification).execute()
  await deletions.add(db, { deletionId, apiKey, scope }, now, { isLeased: false })
  onHidden()
  return true
}

/** Whether one transaction can remove these notifications with all their recipients. */
export async function areSmall(
  db: Db,
  apiKey: string,
  organizationId: string,
  keys: readonly string[],
): Promise<boolean> {
  const rows = sql`
    api_key = ${apiKey} and organization_id = ${organizationId} and notification_id in (${sql.join(keys)})`
  return fitOneTransaction(db, [sizeOf('notifications', rows), sizeOf('notification_recipients', rows)])
}

export async function setContent(
  db: Db,
  apiKey: string,
  { organizationId, id, key, content }: { organizationId: string; id: string; key: string; content: Content },
): Promise<void> {
  await yieldIfLate()
  await db
    .updateTable('notifications')
    .set({ data: stringifyData(content, `notification ${id}`), location_id: locationColumn(content) })
    .where(hasKeys(apiKey, organizationId, [key]))
    .execute()
}

/** The data of the organization and of these documents, as JSON. */
export async function findContext(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentIds: readonly string[],
): Promise<{ organization: string | undefined; documents: Map<string, string> }> {
  const organization = await db
    .selectFrom('organizations')
    .select('data')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  const documents = await db
    .selectFrom('documents')
    .select(['document_id', 'data'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', 'in', documentIds)
    .execute()
  return {
    organization: organization?.data,
    documents: new Map(documents.map((row) => [row.document_id, row.data])),
  }
}

/** The keys of the notifications that fit, by public id. */
async function findKeys(db: Db, apiKey: string, filter: Filter): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('notifications')
    .select(['public_id', 'notification_id'])
    .where(fits(apiKey, filter))
    .$narrowType<{ public_id: NotNull }>()
    .execute()
  return new Map(rows.map((row) => [row.public_id, row.notification_id]))
}

/** Removes the notifications that fit. Returns their ids. */
export async function remove(
  db: Db,
  apiKey: string,
  filter: Filter,
  later: DeletionIfLarge,
): Promise<ReadonlySet<string>> {
  const { organizationId } = filter
  const found = await findKeys(db, apiKey, filter)
  const keys = [...found.values()]
  if (!(await hideIfLarge(db, apiKey, organizationId, keys, later))) {
    for (const some of slices(keys)) {
      await db
        .deleteFrom('notifications')
        .where(hasKeys(apiKey, organizationId, some))
        .execute()
    }
  }
  return new Set(found.keys())
}

/**
 * Removes the user from the notifications that fit, and removes those that have no recipient left. Returns the ids of all that
 * fit.
 */
export async function removeForUser(
  db: Db,
  apiKey: string,
  filter: Filter & { user: Addressee },
): Promise<ReadonlySet<string>> {
  const { organizationId, user } = filter
  const found = new Set<string>()
  for (const name of namesOf(user)) {
    for (const key of await keysInInbox(db, apiKey, filter, name)) found.add(key)
  }
  const removed = new Set<string>()
  for (const keys of slices([...found])) {
    for (const id of await recipients.removeFrom(db, apiKey, organizationId, keys, user)) removed.add(id)
  }
  return removed
}

function hasKeys(apiKey: string, organizationId: string, keys: readonly string[]): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'notifications'>()
  return eb.and([
    eb('api_key', '=', apiKey),
    eb('organization_id', '=', organizationId),
    eb('notification_id', 'in', keys),
  ])
}
