import { newId } from '../../access/ids.ts'
import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import * as apiKeys from '../../store/api-keys.ts'
import * as annotations from '../../store/comments/annotations.ts'
import * as deletions from '../../store/deletions.ts'
import type { Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import * as pending from '../../store/notifications/pending.ts'
import { findSettings } from '../../store/notifications/service-config.ts'
import { collect } from './batches.ts'
import { readContent } from './content.ts'
import { recipientsOf } from './event-recipients.ts'
import { NotificationWriter, type NotificationWriterDeps } from './notification-writer.ts'

export interface DeliveryDeps extends NotificationWriterDeps {
  permissionProvider: PermissionProvider
  wake: (lane: string) => void
}

const emailLane = jobs.laneOf('email.prepare')

/** How long a notification waits for a document that is being moved or deleted. */
const movingMs = 5_000

/**
 * Delivers a pending notification, or puts it into a batch. The transaction that does so also ends or postpones the job, so a
 * server that dies leaves either the job or its result. Returns false if the notification is gone, and the job has nothing to
 * do.
 */
export async function deliver(deps: DeliveryDeps, job: Job<'notification.deliver'>): Promise<boolean> {
  const { database, clock, wake } = deps
  const { apiKey, payload } = job
  const { read } = database
  const notification = await pending.find(read, apiKey, payload.organizationId, payload.notificationId)
  const key = (await apiKeys.find(read, apiKey))?.key
  if (!notification || !key) return false
  const now = clock.now()
  const { batches } = await findSettings(read, key)
  if (notification.deliverAt === null && Object.keys(batches).length > 0) {
    await database.write((db) => collect(db, apiKey, notification, batches, job.runAt), apiKey)
    return true
  }
  const [annotation] = await annotations.findByIds(read, apiKey, notification, [notification.annotationId])
  if (!annotation) return endWithoutAnnotation(deps, job, notification)
  const content = await readContent(read, apiKey, notification, annotation)
  const writer = new NotificationWriter(deps, job, { ...notification, content, timestamp: now })
  if (content && notification.toInbox) {
    const search = { channel: 'inbox', now } as const
    for await (const some of recipientsOf(deps, key, notification, annotation, search)) await writer.add(some)
  }
  const isMailed = content !== undefined && notification.toEmail
  await writer.end(isMailed ? addEmailJob : undefined)
  if (isMailed) wake(emailLane)
  return true

  /** The recipients of emails are found in a job of its own: inboxes do not wait for them. */
  async function addEmailJob(db: Db) {
    const { organizationId, id, documentId, annotationId, commentId, name, actorId, seq, deliverAt } =
      notification as PendingNotification
    const payload = {
      notificationId: id,
      event: { organizationId, documentId, annotationId, commentId, name, actorId, seq },
      isBatched: deliverAt !== null,
    }
    const { runAt } = job
    const kind = 'email.prepare' as const
    await jobs.add(db, { jobId: newId('job'), apiKey, kind, payload, now, runAt, lane: emailLane })
  }
}

/** While a document moves, its annotations may be elsewhere for a moment. Otherwise the annotation was deleted. */
async function endWithoutAnnotation(
  { database, clock }: DeliveryDeps,
  job: Job,
  { organizationId, documentId, id }: PendingNotification,
): Promise<boolean> {
  const { apiKey } = job
  const named = { organizationIds: [organizationId], documentIds: [documentId], folderIds: [] }
  await database.write(async (db: Db) => {
    if (await deletions.isBeingDeleted(db, apiKey, named)) {
      return jobs.reschedule(db, apiKey, [job.jobId], clock.now() + movingMs)
    }
    if (await jobs.finish(db, job)) await pending.remove(db, apiKey, organizationId, id)
  }, apiKey)
  return true
}
