import { ApiError, type Notification, type Operations } from '@plenum/protocol'
import { shortHash } from '../access/ids.ts'
import type { Call, Handlers } from '../handler.ts'
import type { Db } from '../store/db.ts'
import { mergeKeys } from '../store/json.ts'
import type { Content, Filter, StoredNotification } from '../store/notification-lists.ts'
import * as lists from '../store/notification-lists.ts'
import * as recipients from '../store/notification-recipients.ts'
import * as notifications from '../store/notifications.ts'
import { byId, inLockOrder, outcomes, unique } from './batches.ts'
import { notificationConfigHandlers } from './notification-configs.ts'
import { addNotification, later } from './notification-add.ts'
import { readersOf } from './notification-recipients.ts'
import { WrittenJson } from '../written-json.ts'
import { listAll, page, type Window, withPageToken } from './paging.ts'

/** Each is read with the metadata of its document and its organization, and up to 500 names of users. */
const rowsAtOnce = 32

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export const notificationHandlers: Handlers<Operations['notifications']> = {
  ...notificationConfigHandlers,

  add: addNotification,

  async get(call) {
    const { input, caller, db, version } = call
    const { apiKey } = caller
    const { organizationId, documentId, userId } = input
    if (version !== 'v1' && documentId === undefined && userId === undefined) {
      throw invalid('Either documentId or userId is required.')
    }
    const filter = await filterOf(db, apiKey, input)
    const { order = 'desc' } = input
    const list = {
      read: (window: Window) => lists.list(db, apiKey, filter, { ...window, order }),
      cursor: ({ timestamp, key }: StoredNotification) => [timestamp, key],
      rowsAtOnce,
    }
    const shown = (rows: readonly StoredNotification[]) => present(call, organizationId, rows)
    return version === 'v1' ? listAll(call, list, shown) : withPageToken(await page(call, input, list, shown))
  },

  async update({ input, caller, db, now }) {
    const { apiKey } = caller
    const { organizationId } = input
    const sent = Array.isArray(input.notifications) ? input.notifications : [input.notifications]
    const changes = byId(sent, (change) => change.id)
    const filter = await filterOf(db, apiKey, input)
    const found = await lists.findMany(db, apiKey, { ...filter, ids: [...changes.keys()] })

    for (const [id, change] of inLockOrder(changes)) {
      const stored = found.get(id)
      if (!stored) continue
      const { key, documentId } = stored
      const content = contentOf(change)
      if (Object.keys(content).length > 0) {
        await notifications.setContent(db, apiKey, {
          organizationId,
          id,
          key,
          content: { ...stored.content, ...content },
        })
      }
      const readers = unique(change.readByUserIds ?? [])
      if (readers.length > 0) {
        const keep = change.persistReadForUsers === true
        await recipients.markRead(db, apiKey, { organizationId, key }, readers, keep)
      }
      if (input.verifyUserPermissions) {
        const all = await recipients.find(db, apiKey, organizationId, key)
        const mayRead = await readersOf(db, caller, { organizationId, documentId }, all, now)
        await recipients.remove(
          db,
          apiKey,
          organizationId,
          [key],
          all.filter((one) => !mayRead(one)),
        )
      }
    }
    return outcomes(changes.keys(), (id) =>
      found.has(id)
        ? { success: true, message: 'Notification updated.' }
        : { success: false, message: 'Failed to update notification.' },
    )
  },

  async delete(call) {
    const { input, caller, db, removedBefore } = call
    const { apiKey } = caller
    const { documentId, userId, notificationIds } = input
    if (documentId === undefined && userId === undefined && notificationIds === undefined) {
      throw invalid('At least one of documentId, userId or notificationIds is required.')
    }
    const { user, ...filter } = await filterOf(db, apiKey, input)
    const deleted = new Set(removedBefore)
    if (!user) {
      for (const id of await notifications.remove(db, apiKey, filter, later(call))) deleted.add(id)
    } else if (!removedBefore) {
      // A long list has been looked through before. It is not looked through again, because that takes long.
      for (const id of await notifications.removeForUser(db, apiKey, { ...filter, user })) deleted.add(id)
    }
    return outcomes(filter.ids ?? deleted, (id) =>
      deleted.has(id)
        ? { success: true, message: 'Notification deleted.' }
        : { success: false, message: 'Failed to delete notification.' },
    )
  },
}

interface Filters {
  organizationId: string
  documentId?: string
  locationId?: string | number
  userId?: string
  notificationIds?: string[]
}

async function filterOf(db: Db, apiKey: string, input: Filters): Promise<Filter> {
  const { organizationId, documentId, locationId, userId, notificationIds } = input
  return {
    organizationId,
    documentId,
    locationId: locationId === undefined ? undefined : String(locationId),
    ids: notificationIds && unique(notificationIds),
    user: userId === undefined ? undefined : await recipients.addressee(db, apiKey, userId),
  }
}

type Change = Partial<Content>

/** What an update replaces; other keys of the caller's are not kept. */
function contentOf(change: Change): Change {
  const {
    actionUser,
    displayHeadlineMessageTemplate,
    displayHeadlineMessageTemplateData,
    displayBodyMessage,
    notificationSourceData,
  } = change
  return mergeKeys(
    {},
    {
      actionUser,
      displayHeadlineMessageTemplate,
      displayHeadlineMessageTemplateData,
      displayBodyMessage,
      notificationSourceData,
    },
  )
}

/** Notifications as they are read (spec 22.10). */
async function present(
  { db, caller: { apiKey }, longReads }: Call<Operations['notifications']['get']>,
  organizationId: string,
  items: readonly StoredNotification[],
): Promise<Notification[]> {
  const { pause } = longReads.begin(apiKey)
  const named = await recipients.named(
    db,
    apiKey,
    organizationId,
    items.map(({ key }) => key),
  )
  const documentIds = unique(items.map(({ documentId }) => documentId))
  const surroundings = await notifications.surroundings(db, apiKey, organizationId, documentIds)
  const shown: Notification[] = []
  for (const {
    id,
    key,
    documentId,
    content: { locationId, location, ...content },
    timestamp,
    state,
  } of items) {
    await pause()
    const addressed = named.get(key) ?? []
    shown.push({
      id,
      ...content,
      notifyUsers: hashes(addressed.flatMap(({ email }) => email ?? [])),
      notifyUsersByUserId: hashes(addressed.flatMap(({ userId }) => userId ?? [])),
      metadata: {
        apiKey,
        organizationId,
        documentId,
        locationId,
        location,
        documentMetadata: written(surroundings.documents.get(documentId)),
        organizationMetadata: written(surroundings.organization),
      },
      timestamp,
      ...state,
    })
  }
  return shown
}

/** Many notifications show the same: it is not parsed and written for each. */
const written = (metadata = '{}') =>
  new WrittenJson(Buffer.from(metadata)) as unknown as Record<string, unknown>

const hashes = (values: readonly string[]) =>
  Object.fromEntries(values.map((value) => [shortHash(value), true]))
