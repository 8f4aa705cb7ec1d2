import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import {
  type AnnotationRef,
  type NewestComments,
  newestCommentFor,
  type StoredAnnotation,
} from './annotation.ts'
import { annotationKey, belongsTo, keysOf } from './annotation-key.ts'
import { refKey } from './comments.ts'

const key = { ...annotationKey, user_id: 'text' } as const

/** Records that the user has seen all comments up to this change of the document. Views never go back. */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  refs: readonly AnnotationRef[],
  { userId, seq, now }: { userId: string; seq: number; now: number },
): Promise<void> {
  const rows = keysOfViews(apiKey, organizationId, userId, refs)
  await upsert(
    db,
    rows.map((row) => ({ ...row, viewed_seq: seq, viewed_at: now })),
  )
}

const keysOfViews = (
  apiKey: string,
  organizationId: string,
  userId: string,
  refs: readonly AnnotationRef[],
) => keysOf(apiKey, organizationId, refs).map((row) => ({ ...row, user_id: userId }))

const upsert = batched(
  { ...key, viewed_seq: 'bigint', viewed_at: 'bigint' },
  ({ row, fromRows }) => sql`
    insert into annotation_views (api_key, organization_id, document_id, user_id, number, viewed_seq, viewed_at)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.user_id}, ${row.number}, ${row.viewed_seq},
      ${row.viewed_at} ${fromRows}
    where true
    on conflict (api_key, organization_id, document_id, user_id, number) do update
      set viewed_seq = excluded.viewed_seq, viewed_at = excluded.viewed_at
      where annotation_views.viewed_seq < excluded.viewed_seq`,
)

/** Whether each annotation has a comment of another user that this user has not seen, by `refKey`. */
export async function findUnread(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: readonly StoredAnnotation[],
  userId: string,
): Promise<Map<string, boolean>> {
  const unread = await findUnreadOf(db, apiKey, organizationId, annotations, [userId])
  const own = unread.get(userId)
  return new Map(annotations.map((annotation) => [refKey(annotation), own?.has(annotation) === true]))
}

/** The annotations with a comment of another user that the user has not seen, by user. */
export async function findUnreadOf<Annotation extends AnnotationRef & NewestComments>(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotations: readonly Annotation[],
  userIds: readonly string[],
): Promise<Map<string, Set<Annotation>>> {
  const keys = userIds.flatMap((userId) => keysOfViews(apiKey, organizationId, userId, annotations))
  const rows = await selectViews(db, keys)
  const viewed = new Map(
    rows.map((row) => [viewKey(row.user_id, row.document_id, row.number), row.viewed_seq]),
  )
  const isUnread = (userId: string, annotation: Annotation) =>
    newestCommentFor(annotation, userId) >
    (viewed.get(viewKey(userId, annotation.documentId, annotation.number)) ?? 0)
  return new Map(
    userIds.map((userId) => [userId, new Set(annotations.filter((one) => isUnread(userId, one)))]),
  )
}

const viewKey = (userId: string, documentId: string, number: number) =>
  `${number} ${documentId.length} ${documentId} ${userId}`

/** Those of the users who have looked at the annotation since this change of its document. */
export async function findSeen(
  db: Db,
  apiKey: string,
  organizationId: string,
  { documentId, number }: AnnotationRef,
  userIds: readonly string[],
  seq: number,
): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('annotation_views')
    .select('user_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('user_id', 'in', userIds)
    .where('number', '=', number)
    .where('viewed_seq', '>=', seq)
    .execute()
  return new Set(rows.map((row) => row.user_id))
}

interface ViewRow {
  user_id: string
  document_id: string
  number: number
  viewed_seq: number
}

const selectViews = batched<keyof typeof key, ViewRow>(key, ({ row, fromRows, isPostgres }) => {
  const isRow = sql`${belongsTo('v', row)} and v.user_id = ${row.user_id}`
  const columns = sql`v.user_id, v.document_id, v.number, v.viewed_seq`
  return isPostgres
    ? sql`select ${columns} ${fromRows} join annotation_views as v on ${isRow}`
    : sql`select ${columns} from annotation_views as v where ${isRow}`
})
