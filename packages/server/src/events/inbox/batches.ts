import type { Db } from '../../store/engine/db.ts'
import * as jobs from '../../store/jobs.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import * as pending from '../../store/notifications/pending.ts'
import type { NotificationSettings } from '../../store/notifications/service-config.ts'

type Kind = keyof NotificationSettings['batches']

const columns = { document: 'document_id', user: 'actor_id' } as const satisfies Record<Kind, string>

/**
 * Adds a notification to the open batches of its document and of the user who caused it. The first of them that ends delivers
 * it: when its time is over, or when it is full, together with the rest of that batch. Times are counted from `dueAt`, when the
 * notification was due, and not from when the server came to it.
 */
export async function collect(
  db: Db,
  apiKey: string,
  notification: PendingNotification,
  batches: NotificationSettings['batches'],
  dueAt: number,
): Promise<void> {
  const { organizationId, id, jobId, documentId, actorId } = notification
  const full: PendingNotification[] = []
  const ends: number[] = []
  for (const kind of Object.keys(batches) as Kind[]) {
    const { batchWindowSeconds, maxActivities } = batches[kind] as NonNullable<(typeof batches)[Kind]>
    const value = kind === 'document' ? documentId : actorId
    if (value === null) continue
    const by = { column: columns[kind], value }
    const others = await pending.findBatch(db, apiKey, organizationId, by, { now: dueAt, max: maxActivities })
    if (others.length + 1 >= maxActivities) {
      full.push(...others)
      ends.push(dueAt)
    } else ends.push(others[0]?.deliverAt ?? dueAt + batchWindowSeconds * 1000)
  }
  const deliver = async (ids: readonly string[], jobIds: readonly string[], at: number) => {
    await pending.setDeliverAt(db, apiKey, organizationId, ids, at)
    await jobs.reschedule(db, apiKey, jobIds, at)
  }
  await deliver([id], [jobId], ends.length > 0 ? Math.min(...ends) : dueAt)
  if (full.length > 0) {
    await deliver(
      full.map((one) => one.id),
      full.map((one) => one.jobId),
      dueAt,
    )
  }
}
