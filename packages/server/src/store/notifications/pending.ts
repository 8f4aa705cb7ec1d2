import type { EventName } from '@plenum/protocol'
import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import type { PendingNotificationTable } from '../schema/notification-tables.ts'

/** A notification about an event that is not delivered yet. */
export interface PendingNotification {
  organizationId: string
  /** The id that the notification will have. */
  id: string
  documentId: string
  annotationId: string
  commentId: number | null
  name: EventName
  actorId: string | null
  seq: number
  jobId: string
  /** When its batch ends. Null: it is in no batch. */
  deliverAt: number | null
  toInbox: boolean
  toEmail: boolean
}

/** Adds notifications that are in no batch. */
export async function add(
  db: Db,
  apiKey: string,
  pending: readonly Omit<PendingNotification, 'deliverAt'>[],
): Promise<void> {
  const rows = pending.map((one) => ({
    api_key: apiKey,
    organization_id: one.organizationId,
    notification_id: one.id,
    document_id: one.documentId,
    annotation_id: one.annotationId,
    comment_id: one.commentId,
    name: one.name,
    actor_id: one.actorId,
    seq: one.seq,
    job_id: one.jobId,
    to_inbox: one.toInbox ? 1 : 0,
    to_email: one.toEmail ? 1 : 0,
  }))
  await insert(db, rows)
}

const insert = batched(
  {
    api_key: 'text',
    organization_id: 'text',
    notification_id: 'text',
    document_id: 'text',
    annotation_id: 'text',
    comment_id: 'bigint',
    name: 'text',
    actor_id: 'text',
    seq: 'bigint',
    job_id: 'text',
    to_inbox: 'bigint',
    to_email: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into pending_notifications (api_key, organization_id, notification_id, document_id, annotation_id, comment_id,
      name, actor_id, seq, job_id, to_inbox, to_email)
    select ${row.api_key}, ${row.organization_id}, ${row.notification_id}, ${row.document_id}, ${row.annotation_id},
      ${row.comment_id}, ${row.name}, ${row.actor_id}, ${row.seq}, ${row.job_id},
      ${row.to_inbox}, ${row.to_email} ${fromRows}`,
)

export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  id: string,
): Promise<PendingNotification | undefined> {
  const row = await select(db, apiKey, organizationId).where('notification_id', '=', id).executeTakeFirst()
  return row && toPending(row)
}

/** The notifications of an open batch: those in the document, or those that the user caused. At most `max`. */
export async function findBatch(
  db: Db,
  apiKey: string,
  organizationId: string,
  by: { column: 'document_id' | 'actor_id'; value: string },
  { now, max }: { now: number; max: number },
): Promise<PendingNotification[]> {
  const rows = await select(db, apiKey, organizationId)
    .where(by.column, '=', by.value)
    .where('deliver_at', '>', now)
    .orderBy('deliver_at')
    .limit(max)
    .execute()
  return rows.map(toPending)
}

/** Whether a notification of the organization whose batch has ended is not delivered yet. */
export async function hasOverdue(
  db: Db,
  apiKey: string,
  organizationId: string,
  now: number,
): Promise<boolean> {
  const row = await select(db, apiKey, organizationId)
    .where('deliver_at', '<=', now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function setDeliverAt(
  db: Db,
  apiKey: string,
  organizationId: string,
  ids: readonly string[],
  deliverAt: number,
): Promise<void> {
  await db
    .updateTable('pending_notifications')
    .set({ deliver_at: deliverAt })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', 'in', ids)
    .execute()
}

export async function remove(db: Db, apiKey: string, organizationId: string, id: string): Promise<void> {
  await db
    .deleteFrom('pending_notifications')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('notification_id', '=', id)
    .execute()
}

const select = (db: Db, apiKey: string, organizationId: string) =>
  db
    .selectFrom('pending_notifications')
    .selectAll()
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)

const toPending = (row: PendingNotificationTable): PendingNotification => ({
  organizationId: row.organization_id,
  id: row.notification_id,
  documentId: row.document_id,
  annotationId: row.annotation_id,
  commentId: row.comment_id,
  name: row.name as EventName,
  actorId: row.actor_id,
  seq: row.seq,
  jobId: row.job_id,
  deliverAt: row.deliver_at,
  toInbox: row.to_inbox === 1,
  toEmail: row.to_email === 1,
})
