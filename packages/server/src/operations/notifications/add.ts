import { ApiError, type Input, type Operations } from '@plenum/protocol'
import { locationNumber, newNotificationId, newId } from '../../access/ids.ts'
import { type Call, type PreparedWrite, Stale } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import { isDuplicateKey } from '../../store/engine/failures.ts'
import { mergeKeys } from '../../store/engine/json.ts'
import type { Content } from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import * as users from '../../store/users/users.ts'
import { requireLevel } from '../shared/levels.ts'
import { areMany, type Audience, findRecipients } from './recipients.ts'

type Add = Operations['notifications']['add']

/** A notification that is stored with all its recipients, but hidden until the last transaction. */
interface Staged {
  id: string
  key: string
  /** The deletion that removes it if it is never shown. */
  deletionId: string
}

/**
 * A notification with many recipients is written in short transactions, so that other writes run in between. It stays
 * hidden until the last one. If the server dies before, the recorded deletion removes it.
 */
export const addNotification: PreparedWrite<Add> = {
  async prepare(call): Promise<Staged | undefined> {
    const {
      input,
      caller,
      db,
      now,
      services: { clock, writeStep },
    } = call
    const { apiKey } = caller
    validate(input)
    const audience = audienceOf(input)
    if (!(await areMany(db, apiKey, audience, now))) return undefined
    const { organizationId } = input
    const id = input.notificationId ?? newNotificationId()
    const staged = { id, key: newKey(id), deletionId: newId('del') }
    const startedAt = clock.elapsed()
    const deletion = () => ({
      deletionId: staged.deletionId,
      now: now + Math.round(clock.elapsed() - startedAt),
    })
    await writeStep(async (step) => {
      await ensureDocument(step, call)
      await notifications.addHidden(step, apiKey, { ...staged, ...notificationOf(input, now) }, deletion())
    }, apiKey)
    const notification = { organizationId, key: staged.key, timestamp: now }
    for await (const some of findRecipients(db, caller, audience, now)) {
      if (some.length === 0) continue
      const isStored = await writeStep(
        (step) => notifications.addRecipients(step, apiKey, notification, some, deletion()),
        apiKey,
      )
      if (!isStored) throw removedMeanwhile()
    }
    return staged
  },

  async write(call, staged: Staged | undefined) {
    const { input, caller, db, now } = call
    const { apiKey } = caller
    const { organizationId } = input
    await ensureDocument(db, call)
    if (staged) {
      const place = { organizationId, id: staged.id, key: staged.key }
      const isShown = await notifications
        .show(db, apiKey, place, staged.deletionId, deferredDeletion(call))
        .catch((error: unknown) => {
          throw isDuplicateKey(error) ? new Stale() : error
        })
      if (!isShown) throw new Stale()
      return { success: true, id: staged.id, message: 'Notification added successfully.' }
    }
    const id = input.notificationId ?? newNotificationId()
    await notifications.put(
      db,
      apiKey,
      { id, key: newKey(id), ...notificationOf(input, now) },
      findRecipients(db, caller, audienceOf(input), now),
      deferredDeletion(call),
    )
    return { success: true, id, message: 'Notification added successfully.' }
  },
}

/** The deletion that removes hidden notifications. It starts after the commit. */
export const deferredDeletion = ({
  now,
  afterCommit,
  services: { resumeDeletions },
}: Call): notifications.DeletionIfLarge => ({
  deletionId: newId('del'),
  now,
  onHidden: () => afterCommit(resumeDeletions),
})

/** Sorts like the id: `!` sorts before every character that an id may contain. */
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

/** Makes sure that the document and the acting user exist. */
async function ensureDocument(db: Db, { input, caller: { apiKey }, now }: Call<Add>): Promise<void> {
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

/** A number for the location: from its id, which may be 0, else from its name (spec 22.5). */
function locationIdOf({ id, locationName }: Record<string, unknown> = {}): number | undefined {
  for (const identity of [id, locationName]) {
    if (typeof identity === 'number' || (typeof identity === 'string' && identity.trim() !== '')) {
      return locationNumber(String(identity))
    }
  }
  return undefined
}
