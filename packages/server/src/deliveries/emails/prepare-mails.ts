import { hash } from 'node:crypto'
import { recipientsOf, type RecipientDeps } from '../../events/inbox/event-recipients.ts'
import type { Clock } from '../../platform/clock.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import * as digests from '../../store/deliveries/digests.ts'
import type { MailUser } from '../../store/deliveries/digests.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job, MailedEvent } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'
import * as recipients from '../../store/notifications/recipients.ts'
import { addDeliveriesTo } from '../add-deliveries.ts'
import { findEventAnnotation, inDocumentOf } from '../event-annotation.ts'
import { changedBy, findShownComment } from './read-event-content.ts'
import type { StoredMail } from './stored-mail.ts'

interface PrepareDeps extends RecipientDeps {
  database: Database
  clock: Clock
  wake: (lane: string) => void
  /** Aborted when the server stops. The job runs again after the restart. */
  stopping: AbortSignal
}

/**
 * Finds who gets an email about an event (spec 3.3), and stores what each recipient gets: a delivery, or a part of the next
 * digest.
 */
export async function prepareMails(deps: PrepareDeps, job: Job<'email.prepare'>): Promise<void> {
  const { database, clock, wake, stopping } = deps
  const { apiKey, payload, lane } = job
  const { event, isBatched, notificationId } = payload
  const { organizationId, name } = event
  const { read } = database
  const key = (await apiKeys.find(read, apiKey))?.key
  const annotation = key && (await findEventAnnotation(read, apiKey, event))
  if (!annotation || !(await findShownComment(read, apiKey, event, annotation))) return
  const data = storedMail(event, annotation)
  const message = { messageId: `msg_${notificationId}`, event: name, data }
  const store = async (db: Db, users: readonly MailUser[]) => {
    const now = clock.now()
    await deliveries.addMessage(db, apiKey, message, now)
    if (isBatched) await digests.add(db, apiKey, organizationId, message.messageId, users, now)
    else await addDeliveries(db, apiKey, message, users, now)
  }
  let isWanted = false
  for await (const some of recipientsOf(deps, key, inDocumentOf(annotation, event), annotation, {
    channel: 'email',
    now: clock.now(),
  })) {
    stopping.throwIfAborted()
    const users = await withAddresses(read, apiKey, some)
    if (users.length === 0) continue
    await database.write((db) => store(db, users), apiKey)
    isWanted = true
    if (!isBatched) wake(jobs.laneOf('email.send'))
  }
  if (!isWanted || !isBatched) return
  // One job for all events of the batch. It is due behind them in their lane.
  await database.write(
    (db) =>
      jobs.add(db, {
        jobId: `digest_${hash('sha256', `${organizationId} ${job.runAt}`).slice(0, 32)}`,
        apiKey,
        kind: 'email.digest',
        payload: { organizationId, endedAt: job.runAt },
        now: clock.now(),
        runAt: job.runAt + 1,
        lane,
      }),
    apiKey,
  )
  wake(lane)
}

function storedMail(event: MailedEvent, annotation: StoredAnnotation): StoredMail {
  const { organizationId, name } = event
  const { documentId, number, createdAt } = annotation
  const identity = { documentId, annotationNumber: number, annotationCreatedAt: createdAt }
  const changed = changedBy(name, annotation)
  return {
    organizationId,
    documentId,
    events: [{ ...event, ...identity, ...(changed && { changed }) }],
  }
}

/** Adds a delivery of the message to each user, and its job. */
export async function addDeliveries(
  db: Db,
  apiKey: string,
  message: Pick<deliveries.Message, 'messageId' | 'event'>,
  users: readonly MailUser[],
  now: number,
): Promise<void> {
  const receivers = users.map(({ userId, email }) => ({ channel: 'email' as const, target: email, userId }))
  await addDeliveriesTo(db, apiKey, message, receivers, now)
}

/** The recipients who have an address. */
async function withAddresses(db: Db, apiKey: string, some: readonly NewRecipient[]): Promise<MailUser[]> {
  const userIds = some.flatMap(({ userId }) => userId ?? [])
  const found = await recipients.findUsers(db, apiKey, userIds)
  return found.flatMap(({ userId, email }) => (email ? { userId, email } : []))
}
