import type { PermissionProvider } from '../../access/provider/permission-provider.ts'
import { findViewers } from '../../access/viewers.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import * as comments from '../../store/comments/comments.ts'
import * as views from '../../store/comments/views.ts'
import * as deletions from '../../store/deletions.ts'
import type { Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import * as pending from '../../store/notifications/pending.ts'
import type { NewRecipient } from '../../store/notifications/recipients.ts'
import { findSettings } from '../../store/notifications/service-config.ts'
import { collect } from './batches.ts'
import { readContent } from './content.ts'
import { NotificationWriter, type NotificationWriterDeps } from './notification-writer.ts'
import { findRecipients, type RecipientSearch } from './recipients.ts'

export interface DeliveryDeps extends NotificationWriterDeps {
  permissionProvider: PermissionProvider
}

/** How long a notification waits for a document that is being moved or deleted. */
const movingMs = 5_000

/**
 * Delivers a pending notification, or puts it into a batch. The transaction that does so also ends or postpones the job, so a
 * server that dies leaves either the job or its result. Returns false if the notification is gone, and the job has nothing to
 * do.
 */
export async function deliver(deps: DeliveryDeps, job: Job<'notification.deliver'>): Promise<boolean> {
  const { database, clock } = deps
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
  if (content) {
    for await (const some of recipientsOf(deps, key, notification, annotation, now)) await writer.add(some)
  }
  await writer.end()
  return true
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

/** The users who are notified (spec 18.7), in slices. */
async function* recipientsOf(
  { database: { read: db }, permissionProvider }: DeliveryDeps,
  key: ApiKey,
  { organizationId, documentId, actorId, seq }: PendingNotification,
  annotation: StoredAnnotation,
  now: number,
): AsyncGenerator<NewRecipient[]> {
  const { apiKey } = key
  const users = await comments.findUsers(db, apiKey, organizationId, annotation)
  const unwilling = new Set(
    users.flatMap(({ userId, involvement }) => (involvement === 'unsubscribed' ? userId : [])),
  )
  if (actorId !== null) unwilling.add(actorId)
  const { authorId, assigneeId, audience } = annotation
  const involved = new Set([authorId, ...(assigneeId === null ? [] : [assigneeId])])
  for (const { userId } of users) involved.add(userId)
  const accept = async (among: readonly NewRecipient[]) => {
    const userIds = among.flatMap(({ userId }) => userId ?? []).filter((userId) => !unwilling.has(userId))
    const isViewer = await findViewers(db, { apiKey, organizationId, now }, audience, userIds)
    const seen = await views.findSeen(db, apiKey, organizationId, annotation, userIds, seq)
    const accepted = new Set(userIds.filter((userId) => isViewer(userId) && !seen.has(userId)))
    return among.filter(({ userId }) => userId !== null && accepted.has(userId))
  }
  const check: RecipientSearch['check'] = async (work) => {
    const result = await permissionProvider.check(key, work)
    // Without the answer of the provider, users would be left out forever. The job runs again after the restart.
    if (permissionProvider.isStopped) throw new Error('The server stops.')
    return result
  }
  yield* findRecipients(
    { db, caller: key, now, check, accept },
    {
      organizationId,
      documentId,
      notifyUsers: [...involved].filter((userId) => !unwilling.has(userId)).map((userId) => ({ userId })),
      notifyAll: true,
      verifyUserPermissions: true,
    },
  )
}
