import {
  ApiError,
  type Input,
  type Notification,
  type NotificationUser,
  type Operations,
} from '@plenum/protocol'
import { shortHash } from '../../access/ids.ts'
import type { AroundQuestion } from '../../access/provider/permission-provider.ts'
import type { Call, Handlers } from '../../calls/call.ts'
import { cursorOf } from '../../store/engine/scan.ts'
import type { Content, StoredNotification } from '../../store/notifications/lists.ts'
import * as lists from '../../store/notifications/lists.ts'
import * as recipients from '../../store/notifications/recipients.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import type { Requester } from '../../platform/turns/in-progress.ts'
import { outcomes, unique } from '../shared/batches.ts'
import { type CurrentUser, loadCurrentUsers } from '../shared/current-users.ts'
import { notificationConfigHandlers } from './notification-configs.ts'
import { addNotification, deferredDeletion } from './add.ts'
import { filterOf } from './filters.ts'
import { requireOpen } from './open-organization.ts'
import { updateNotifications } from './update.ts'
import { VisibleNotifications } from './visible.ts'
import { EncodedJson } from '../../calls/answers/encoded-json.ts'
import { listAll, page, withPageToken } from '../shared/paging.ts'
import { scannedList, scanningOf } from '../shared/scanned-list.ts'

/**
 * Fewer than in other lists, because each row comes with the metadata of its document and organization, and up to 500
 * users.
 */
const rowsPerQuery = 32
/** A list is read again at most this often if a notification vanishes while it is read. */
const maxReads = 3

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)

export const notificationHandlers: Handlers<Operations['notifications']> = {
  ...notificationConfigHandlers,

  add: addNotification,

  async get(call) {
    const { input, caller, db, version } = call
    const { apiKey } = caller
    const { organizationId, documentId, order = 'desc' } = input
    const filter = await filterOf(db, caller, input)
    const { user } = filter
    if (version !== 'v1' && documentId === undefined && user === undefined) {
      throw invalid('Either documentId or userId is required.')
    }
    await requireOpen(call, organizationId)
    // A notification that vanishes between the two statements of a list may have been replaced by another, which is shown then.
    let hasVanished = false
    const read = async () => {
      const reading = call.services.longReads.open(caller, call.abandoned)
      const scanning = scanningOf(reading, { hasPages: version !== 'v1' })
      // The permission provider may take seconds to answer.
      const around: AroundQuestion = (ask) => reading.outside(ask)
      const allowed = user && new VisibleNotifications(call, user.userId, { scanning, around })
      const list = {
        read: scannedList({
          scanning,
          find: (window) =>
            lists.findPositions(db, apiKey, filter, { ...window, order }, scanning, allowed?.keepPositions),
          cursorOf,
          load: async (positions) => {
            const rows = await reading.query(() => lists.readPositions(db, apiKey, organizationId, positions))
            hasVanished ||= rows.length < positions.length
            return allowed ? allowed.keepHeld(rows) : rows
          },
        }),
        cursor: ({ timestamp, key }: StoredNotification) => [timestamp, key],
        rowsPerQuery,
        reading,
      }
      const shown = (rows: readonly StoredNotification[]) => presentNotifications(call, organizationId, rows)
      return version === 'v1'
        ? listAll(call, list, shown)
        : withPageToken(await page(call, input, list, shown))
    }
    let answer = await read()
    for (let attempt = 1; hasVanished && attempt < maxReads; attempt++) {
      answer.onSent?.()
      hasVanished = false
      answer = await read()
    }
    return answer
  },

  update: updateNotifications,

  delete: {
    scope: deletionScope,
    remove: deleteNotifications,
  },
}

type Delete = Operations['notifications']['delete']

function deletionScope(input: Input<Delete>) {
  const { organizationId, documentId, locationId, userId, notificationIds } = input
  // Notifications that the caller names are few. Those with many recipients are hidden now and removed after the commit.
  if (notificationIds !== undefined) return undefined
  const atLocation = locationId === undefined ? {} : { locationId: String(locationId) }
  if (userId !== undefined) {
    const inDocument = documentId === undefined ? {} : { documentId }
    return { organizationId, inboxOf: { userId, ...inDocument, ...atLocation } }
  }
  return documentId === undefined
    ? undefined
    : { organizationId, notificationsOf: { documentId, ...atLocation } }
}

async function deleteNotifications(call: Call<Delete>) {
  const { input, caller, db, alreadyRemovedIds, signal } = call
  const { apiKey } = caller
  const { documentId, userId, notificationIds } = input
  if (documentId === undefined && userId === undefined && notificationIds === undefined) {
    throw invalid('At least one of documentId, userId or notificationIds is required.')
  }
  const { user, ...filter } = await filterOf(db, caller, input)
  const deleted = new Set(alreadyRemovedIds)
  signal({
    kind: 'inbox',
    organizationId: input.organizationId,
    ...(userId !== undefined && { userIds: [userId] }),
  })
  if (!user) {
    for (const id of await notifications.remove(db, apiKey, filter, deferredDeletion(call))) deleted.add(id)
  } else if (!alreadyRemovedIds) {
    // If earlier steps have gone through the inbox, this transaction must not do so again: a long inbox would take too
    // long.
    for (const id of await notifications.removeForUser(db, apiKey, { ...filter, user })) deleted.add(id)
  }
  return outcomes(filter.ids ?? deleted, (id) =>
    deleted.has(id)
      ? { success: true, message: 'Notification deleted.' }
      : { success: false, message: 'Failed to delete notification.' },
  )
}

/** The notifications as callers read them (spec 22.10). */
export async function presentNotifications(
  { db, caller, services: { longReads } }: Pick<Call, 'db' | 'services'> & { caller: Requester },
  organizationId: string,
  items: readonly StoredNotification[],
): Promise<Notification[]> {
  const { apiKey } = caller
  const { pause } = longReads.open(caller)
  const named = await recipients.findNamed(
    db,
    apiKey,
    organizationId,
    items.map(({ key }) => key),
  )
  const documentIds = unique(items.map(({ documentId }) => documentId))
  const surroundings = await notifications.findContext(db, apiKey, organizationId, documentIds)
  const currentUser = await loadCurrentUsers(
    db,
    apiKey,
    items.flatMap(({ content }) => usersIn(content).flatMap(({ userId }) => userId ?? [])),
  )
  const shown: Notification[] = []
  for (const {
    id,
    key,
    documentId,
    content: { locationId, location, shownUsers: _, ...content },
    timestamp,
    state,
  } of items) {
    await pause()
    const addressed = named.get(key) ?? []
    shown.push({
      id,
      ...withCurrentUsers(content, currentUser),
      ...(content.targetAnnotationId !== undefined && {
        // The document may have moved to another id since.
        notificationSourceData: { ...content.notificationSourceData, documentId },
      }),
      notifyUsers: hashes(addressed.flatMap(({ email }) => email ?? [])),
      notifyUsersByUserId: hashes(addressed.flatMap(({ userId }) => userId ?? [])),
      metadata: {
        apiKey,
        organizationId,
        documentId,
        locationId,
        location,
        documentMetadata: encoded(surroundings.documents.get(documentId)),
        organizationMetadata: encoded(surroundings.organization),
      },
      timestamp,
      ...state,
    })
  }
  return shown
}

type Users = Pick<Content, 'actionUser' | 'displayHeadlineMessageTemplateData'>

/** The users whom the notification shows. */
function usersIn({ actionUser, displayHeadlineMessageTemplateData: data }: Users) {
  const { actionUser: actor, recipientUser } = data ?? {}
  return [actionUser, actor, recipientUser].filter(isUser)
}

const isUser = (value: string | NotificationUser | undefined): value is NotificationUser =>
  typeof value === 'object'

/** Shows renamed users under their new names. */
function withCurrentUsers<C extends Users>(content: C, current: CurrentUser): C {
  const { displayHeadlineMessageTemplateData: data } = content
  return {
    ...content,
    ...(isUser(content.actionUser) && { actionUser: current(content.actionUser) }),
    ...(data && {
      displayHeadlineMessageTemplateData: {
        ...data,
        ...(data.actionUser && { actionUser: current(data.actionUser) }),
        ...(isUser(data.recipientUser) && { recipientUser: current(data.recipientUser) }),
      },
    }),
  }
}

/**
 * Stored metadata as part of an answer. Many notifications have the same metadata, so it is not parsed and encoded for
 * each.
 */
const encoded = (metadata = '{}') =>
  new EncodedJson(Buffer.from(metadata)) as unknown as Record<string, unknown>

const hashes = (values: readonly string[]) =>
  Object.fromEntries(values.map((value) => [shortHash(value), true]))
