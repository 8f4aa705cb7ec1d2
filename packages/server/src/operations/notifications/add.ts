import { ApiError, type Input, type Operations } from '@plenum/protocol'
import { locationNumber, newDigits, newId } from '../../access/ids.ts'
import { type Call, type PreparedWrite, Stale } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import { isTaken } from '../../store/engine/failures.ts'
import { mergeKeys } from '../../store/engine/json.ts'
import type { Content } from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import * as users from '../../store/users/users.ts'
import { requireLevel } from '../levels.ts'
import { areMany, type Audience, findRecipients } from './recipients.ts'

type Add = Operations['notifications']['add']

/** A notification that is on disk with all recipients, but hidden until the last transaction. */
interface Staged {
  id: string
  key: string
  /** Removes it if it is never shown. */
  deletionId: string
}

/**
 * A notification with many recipients is written in short transactions, so that others write in between. It is hidden
 * meanwhile. If the server dies, the noted deletion removes what it left.
 */
export const addNotification: PreparedWrite<Add> = {
  async prepare(call): Promise<Staged | undefined> {
    const { input, caller, db, now, writeStep } = call
    const { apiKey } = caller
    validate(input)
    const audience = audienceOf(input)
    if (!(await areMany(db, apiKey, audience, now))) return undefined
    const { organizationId } = input
    const id = input.notificationId ?? newDigits()
    const staged = { id, key: newKey(id), deletionId: newId('del') }
    const startedAt = performance.now()
    const deletion = () => ({
      deletionId: staged.deletionId,
      now: now + Math.round(performance.now() - startedAt),
    })
    await writeStep(async (step) => {
      await ensurePlace(step, call)
      await notifications.addHidden(step, apiKey, { ...staged, ...notificationOf(input, now) }, deletion())
    }, apiKey)
    const notification = { organizationId, key: staged.key, timestamp: now }
    for await (const some of findRecipients(db, caller, audience, now)) {
      if (some.length === 0) continue
      const isThere = await writeStep(
        (step) => notifications.addRecipients(step, apiKey, notification, some, deletion()),
        apiKey,
      )
      if (!isThere) throw removedMeanwhile()
    }
    return staged
  },

  async write(call, staged: Staged | undefined) {
    const { input, caller, db, now } = call
    const { apiKey } = caller
    const { organizationId } = input
    await ensurePlace(db, call)
    if (staged) {
      const place = { organizationId, id: staged.id, key: staged.key }
      const isShown = await notifications
        .show(db, apiKey, place, staged.deletionId, later(call))
        .catch((error: unknown) => {
          throw isTaken(error) ? new Stale() : error
        })
      if (!isShown) throw new Stale()
      return { success: true, id: staged.id, message: 'Notification added successfully.' }
    }
    const id = input.notificationId ?? newDigits()
    await notifications.put(
      db,
      apiKey,
      { id, key: newKey(id), ...notificationOf(input, now) },
      findRecipients(db, caller, audienceOf(input), now),
      later(call),
    )
    return { success: true, id, message: 'Notification added successfully.' }
  },
}

/** Names the deletion that removes hidden notifications, and starts it after the commit. */
export const later = ({ now, afterCommit, resumeDeletions }: Call): notifications.Later => ({
  deletionId: newId('del'),
  now,
  onHidden: () => afterCommit(resumeDeletions),
})

/** Sorts like the id: `!` comes before all that an id may contain. */
const newKey = (id: string) => newId(`${id}!`)

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
  if (input.notifyAll === false && input.notifyUsers.length === 0) {
    throw invalid('notifyUsers must not be empty.')
  }
}

/** The document exists afterwards, and so does the user who acts. */
async function ensurePlace(db: Db, { input, caller: { apiKey }, now }: Call<Add>): Promise<void> {
  const { organizationId, documentId, createOrganization, createDocument, actionUser } = input
  const create = { organization: createOrganization, document: createDocument }
  await requireLevel(db, apiKey, { organizationId, type: 'document', id: documentId }, create, now)
  await users.ensure(db, apiKey, [actionUser], now)
}

const audienceOf = ({
  organizationId,
  documentId,
  notifyUsers,
  notifyAll,
  verifyUserPermissions,
}: Input<Add>): Audience => ({
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
    actionUser: mergeKeys({}, input.actionUser),
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

/** The location's own id, which may be 0, else its name (spec 22.5). */
function locationIdOf({ id, locationName }: Record<string, unknown> = {}): number | undefined {
  for (const identity of [id, locationName]) {
    if (typeof identity === 'number' || (typeof identity === 'string' && identity.trim() !== '')) {
      return locationNumber(String(identity))
    }
  }
  return undefined
}
