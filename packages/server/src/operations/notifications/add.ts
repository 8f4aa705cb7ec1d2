import { ApiError, type Input, type Operations } from '@plenum/protocol'
import { newId, newNotificationId, newNotificationKey } from '../../access/ids.ts'
import { type Call, type PreparedWrite, Stale } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import { isDuplicateKey } from '../../store/engine/failures.ts'
import { withoutNulls } from '../shared/without-nulls.ts'
import type { Content } from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'
import * as users from '../../store/users/users.ts'
import { requireLevel } from '../shared/levels.ts'
import { locationIdOf, requireIdentity } from '../shared/locations.ts'
import {
  type RecipientSelection,
  findRecipients,
  mayExceedTransaction,
  type RecipientSearch,
} from '../../events/inbox/recipients.ts'

type Add = Operations['notifications']['add']

/** A notification that is stored with all its recipients, but hidden until the last transaction. */
interface HiddenNotification {
  id: string
  key: string
  /** The recorded deletion that removes the notification if the last transaction never runs. */
  deletionId: string
}

/**
 * A notification with many recipients, or whose recipients the permission provider verifies, is written in short
 * transactions, so that other writes run in between. It stays hidden until the last transaction. If the server dies before
 * that, the recorded deletion removes the notification.
 */
export const addNotification: PreparedWrite<Add> = {
  async prepare(call): Promise<HiddenNotification | undefined> {
    const {
      input,
      caller,
      db,
      now,
      services: { clock, writeStep, permissionProvider },
    } = call
    const { apiKey } = caller
    validate(input)
    const selection = selectionOf(input)
    // The permission provider is asked outside of transactions.
    const asksProvider = selection.verifyUserPermissions && caller.providerRevision !== undefined
    if (!asksProvider && !(await mayExceedTransaction(db, apiKey, selection, now))) return undefined
    const { organizationId } = input
    const id = input.notificationId ?? newNotificationId()
    const hidden = { id, key: newNotificationKey(id), deletionId: newId('del') }
    const startedAt = clock.elapsed()
    const deletion = () => ({
      deletionId: hidden.deletionId,
      now: now + Math.round(clock.elapsed() - startedAt),
    })
    await writeStep(async (step) => {
      await ensureDocumentAndActor(step, call)
      await notifications.addHidden(step, apiKey, { ...hidden, ...notificationOf(input, now) }, deletion())
    }, apiKey)
    const notification = { organizationId, key: hidden.key, timestamp: now }
    const check: RecipientSearch['check'] = (work) => permissionProvider.check(caller, work)
    for await (const some of findRecipients({ db, caller, now, check }, selection)) {
      if (some.length === 0) continue
      const isStored = await writeStep(
        (step) => notifications.addRecipients(step, apiKey, notification, some, deletion()),
        apiKey,
      )
      if (!isStored) throw removedMeanwhile()
    }
    return hidden
  },

  async write(call, hidden: HiddenNotification | undefined) {
    const { input, caller, db, now, signal } = call
    const { apiKey } = caller
    const { organizationId } = input
    await ensureDocumentAndActor(db, call, signal)
    if (hidden) {
      // `prepare` may have created the document.
      const { documentId, createDocument } = input
      if (createDocument) signal({ kind: 'documents', organizationId, documentIds: [documentId] })
      const place = { organizationId, id: hidden.id, key: hidden.key }
      const isShown = await notifications
        .show(db, apiKey, place, hidden.deletionId, deferredDeletion(call))
        .catch((error: unknown) => {
          throw isDuplicateKey(error) ? new Stale() : error
        })
      if (!isShown) throw new Stale()
      signal({ kind: 'inbox', organizationId })
      return { success: true, id: hidden.id, message: 'Notification added successfully.' }
    }
    const id = input.notificationId ?? newNotificationId()
    const userIds: string[] = []
    const found = findRecipients({ db, caller, now, check: (work) => work(undefined) }, selectionOf(input))
    await notifications.put(
      db,
      apiKey,
      { id, key: newNotificationKey(id), ...notificationOf(input, now) },
      collectUsers(found, userIds),
      deferredDeletion(call),
    )
    // A notification with an id that the caller chose may replace one with other recipients.
    signal({ kind: 'inbox', organizationId, ...(input.notificationId === undefined && { userIds }) })
    return { success: true, id, message: 'Notification added successfully.' }
  },
}

/** Passes the recipients on, and adds the ids of their users to the list. */
async function* collectUsers(
  found: AsyncIterable<NewRecipient[]>,
  userIds: string[],
): AsyncGenerator<NewRecipient[]> {
  for await (const some of found) {
    for (const { userId } of some) if (userId !== null) userIds.push(userId)
    yield some
  }
}

/** A deletion for notifications that are too large for this transaction: they are hidden now and removed after the commit. */
export const deferredDeletion = ({
  now,
  afterCommit,
  services: { resumeDeletions },
}: Call): notifications.DeletionIfLarge => ({
  deletionId: newId('del'),
  now,
  onHidden: () => afterCommit(resumeDeletions),
})

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)
const removedMeanwhile = () =>
  new ApiError('ABORTED', 'The organization or the document was deleted meanwhile. Try again.', {
    retryAfterSeconds: 1,
  })

function validate(input: Input<Add>): void {
  if (!input.isNotificationResolverUsed) {
    if (!input.displayHeadlineMessageTemplate?.trim())
      throw invalid('displayHeadlineMessageTemplate is required.')
    if (!input.displayBodyMessage?.trim()) throw invalid('displayBodyMessage is required.')
  }
  // A location that the caller names by `locationId` may have any form.
  if (input.locationId === undefined) requireIdentity(input.location, 'location')
  if (input.notifyAll === false && input.notifyUsers.length === 0) {
    throw invalid('notifyUsers must not be empty.')
  }
}

/** Makes sure that the document and the acting user exist. */
async function ensureDocumentAndActor(
  db: Db,
  { input, caller: { apiKey }, now }: Call<Add>,
  signal?: Call['signal'],
): Promise<void> {
  const { organizationId, documentId, createOrganization, createDocument, actionUser } = input
  const create = { organization: createOrganization, document: createDocument }
  const level = { organizationId, type: 'document', id: documentId } as const
  await requireLevel(db, apiKey, level, create, now, signal)
  await users.ensure(db, apiKey, [actionUser], now)
}

const selectionOf = ({
  organizationId,
  documentId,
  notifyUsers,
  notifyAll,
  verifyUserPermissions,
}: Input<Add>): RecipientSelection => ({
  organizationId,
  documentId,
  notifyUsers,
  notifyAll: notifyAll !== false,
  verifyUserPermissions: verifyUserPermissions === true,
})

function notificationOf(input: Input<Add>, now: number) {
  const { organizationId, documentId } = input
  const content: Content = {
    notificationSource: input.notificationSource ?? 'custom',
    actionUser: withoutNulls(input.actionUser),
    displayHeadlineMessageTemplate: input.displayHeadlineMessageTemplate,
    displayHeadlineMessageTemplateData: input.displayHeadlineMessageTemplateData,
    displayBodyMessage: input.displayBodyMessage,
    notificationSourceData: input.notificationSourceData,
    isNotificationResolverUsed: input.isNotificationResolverUsed,
    context: input.context,
    locationId: input.locationId ?? locationIdOf(input.location),
    location: input.location,
  }
  return { organizationId, documentId, content, timestamp: now }
}
