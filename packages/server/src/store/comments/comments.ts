import { ApiError, commentLimits } from '@plenum/protocol'
import { type RawBuilder, sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import type {
  AnnotationUserTable,
  CommentReactionTable,
  CommentTable,
  Involvement,
} from '../schema/comment-tables.ts'
import { type AnnotationRef, type StoredComment, toComment } from './annotation.ts'
import { annotationKey, belongsTo, type KeyColumn, keysOf } from './annotation-key.ts'

/** A comment with more bytes as JSON is refused. */
const maxCommentBytes = 64 * 1024

export const commentText = (comment: StoredComment): string => {
  const text = JSON.stringify(comment.content)
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxCommentBytes) return text
  const message = `The data of a comment would have ${bytes} bytes as JSON. At most ${maxCommentBytes} are allowed.`
  throw new ApiError('INVALID_ARGUMENT', message)
}

/** An answer has the profile of each mentioned user, so a mention counts as this many bytes. */
const bytesPerMention = 1024

/** The size of a comment, as the limit for an annotation counts it. */
export const commentSize = (comment: StoredComment): number =>
  Buffer.byteLength(commentText(comment)) + bytesPerMention * comment.content.mentioned.length

/** A comment and the annotation that it belongs to. */
export type CommentIn = AnnotationRef & { comment: StoredComment }

/** Adds comments, or replaces those with the same id. */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  comments: readonly CommentIn[],
): Promise<void> {
  const rows = comments.map(({ documentId, number, comment }) => ({
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
    number,
    comment_id: comment.commentId,
    position: comment.position,
    seq: comment.seq,
    author_id: comment.authorId,
    data: commentText(comment),
    created_at: comment.createdAt,
    last_updated: comment.lastUpdated,
  }))
  await upsert(db, rows)
}

const upsert = batched(
  {
    ...annotationKey,
    comment_id: 'bigint',
    position: 'bigint',
    seq: 'bigint',
    author_id: 'text',
    data: 'text',
    created_at: 'bigint',
    last_updated: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into comments (api_key, organization_id, document_id, number, comment_id, position, seq, author_id, data,
      created_at, last_updated)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.number}, ${row.comment_id}, ${row.position},
      ${row.seq}, ${row.author_id}, ${row.data}, ${row.created_at}, ${row.last_updated} ${fromRows}
    where true
    on conflict (api_key, organization_id, document_id, number, comment_id) do update
      set author_id = excluded.author_id, data = excluded.data, last_updated = excluded.last_updated`,
)

export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  { documentId, number }: AnnotationRef,
  commentIds: readonly number[],
): Promise<void> {
  await db
    .deleteFrom('comments')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('number', '=', number)
    .where('comment_id', 'in', commentIds)
    .execute()
}

/** Selects all rows of a table that belong to the annotations: these columns, and those that name the annotation. */
const ofAnnotations = <Row>(
  table: 'comments' | 'annotation_users' | 'comment_reactions',
  columns: readonly Exclude<keyof Row & string, KeyColumn>[],
  order: RawBuilder<unknown>,
) =>
  batched<KeyColumn, Row>(annotationKey, ({ row, fromRows, isPostgres }) => {
    const isRow = belongsTo('c', row)
    const selected = sql.join([...Object.keys(annotationKey), ...columns].map((name) => sql.ref(`c.${name}`)))
    return isPostgres
      ? sql`select ${selected} ${fromRows} join ${sql.table(table)} as c on ${isRow} order by ${order}`
      : sql`select ${selected} from ${sql.table(table)} as c where ${isRow} order by ${order}`
  })

const selectComments = ofAnnotations<CommentTable>(
  'comments',
  ['comment_id', 'position', 'seq', 'author_id', 'data', 'created_at', 'last_updated'],
  sql`c.position`,
)
const selectUsers = ofAnnotations<AnnotationUserTable>(
  'annotation_users',
  ['user_id', 'involvement'],
  sql`c.user_id, c.involvement`,
)
const selectReactions = ofAnnotations<CommentReactionTable>(
  'comment_reactions',
  ['comment_id', 'icon', 'user_id', 'created_at'],
  sql`c.created_at, c.user_id`,
)

export interface ReactionIn {
  commentId: number
  icon: string
  userId: string
  createdAt: number
}

export interface InvolvedUser {
  userId: string
  involvement: Involvement
}

/** What belongs to an annotation: its comments in their order, its reactions, and the users who are involved. */
export interface Contents {
  comments: StoredComment[]
  reactions: ReactionIn[]
  users: InvolvedUser[]
}

/** Names an annotation within an organization. */
export const refKey = ({ documentId, number }: AnnotationRef): string => `${number} ${documentId}`

/** The contents of the annotations, by `refKey`. Three statements. */
export async function findContents(
  db: Db,
  apiKey: string,
  organizationId: string,
  refs: readonly AnnotationRef[],
): Promise<Map<string, Contents>> {
  const keys = keysOf(apiKey, organizationId, refs)
  const found = new Map(
    refs.map((ref): [string, Contents] => [refKey(ref), { comments: [], reactions: [], users: [] }]),
  )
  const contentsOf = ({ document_id, number }: { document_id: string; number: number }) =>
    found.get(refKey({ documentId: document_id, number }))
  for (const row of await selectComments(db, keys)) contentsOf(row)?.comments.push(toComment(row))
  for (const { comment_id, icon, user_id, created_at, ...row } of await selectReactions(db, keys)) {
    contentsOf(row)?.reactions.push({ commentId: comment_id, icon, userId: user_id, createdAt: created_at })
  }
  for (const { user_id, involvement, ...row } of await selectUsers(db, keys)) {
    contentsOf(row)?.users.push({ userId: user_id, involvement })
  }
  return found
}

/** The involved users of one annotation. */
export async function findUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  ref: AnnotationRef,
): Promise<InvolvedUser[]> {
  const rows = await selectUsers(db, keysOf(apiKey, organizationId, [ref]))
  return rows.map(({ user_id, involvement }) => ({ userId: user_id, involvement }))
}

/** A user who becomes involved in an annotation. */
export type NewlyInvolved = AnnotationRef & InvolvedUser

/** Records that users are involved, in addition to those who are. */
export async function involve(
  db: Db,
  apiKey: string,
  organizationId: string,
  involved: readonly NewlyInvolved[],
): Promise<void> {
  const rows = involved.map(({ documentId, number, userId, involvement }) => ({
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
    number,
    user_id: userId,
    involvement,
  }))
  await insertUsers(db, rows)
}

/** Records that no user is assigned to the annotations. */
export async function unassign(
  db: Db,
  apiKey: string,
  organizationId: string,
  refs: readonly AnnotationRef[],
): Promise<void> {
  await deleteAssigned(db, keysOf(apiKey, organizationId, refs))
}

const deleteAssigned = batched<KeyColumn>(annotationKey, ({ row, fromRows, isPostgres }) => {
  const using = isPostgres ? sql`using (select r.* ${fromRows}) as r` : sql``
  return sql`
    delete from annotation_users as u ${using} where ${belongsTo('u', row)} and u.involvement = 'assigned'`
})

/** Refuses more users than an annotation may have. */
export async function checkInvolved(
  db: Db,
  apiKey: string,
  organizationId: string,
  refs: readonly AnnotationRef[],
): Promise<void> {
  for (const { users } of await countUsers(db, keysOf(apiKey, organizationId, refs))) checkUsers(users)
}

/** Refuses more users than an annotation may have. For new annotations of one document: they have no users but these. */
export function checkNewlyInvolved(involved: readonly NewlyInvolved[]): void {
  const users = new Map<number, Set<string>>()
  for (const { number, userId } of involved) {
    const known = users.get(number) ?? new Set()
    users.set(number, known.add(userId))
  }
  for (const { size } of users.values()) checkUsers(size)
}

function checkUsers(users: number): void {
  const max = commentLimits.usersPerAnnotation
  if (users > max) throw new ApiError('INVALID_ARGUMENT', `An annotation can involve at most ${max} users.`)
}

const insertUsers = batched(
  { ...annotationKey, user_id: 'text', involvement: 'text' },
  ({ row, fromRows }) => sql`
    insert into annotation_users (api_key, organization_id, document_id, number, user_id, involvement)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.number}, ${row.user_id}, ${row.involvement}
      ${fromRows}
    where true
    on conflict do nothing`,
)

const countUsers = batched<KeyColumn, { users: number }>(annotationKey, ({ row, fromRows, isPostgres }) => {
  const isRow = belongsTo('u', row)
  const count = sql<{
    users: number
  }>`select count(distinct user_id) as users from annotation_users as u where ${isRow}`
  return isPostgres ? sql<{ users: number }>`select (${count}) as users ${fromRows}` : count
})

/** Replaces all involved users of an annotation. */
export async function setInvolved(
  db: Db,
  apiKey: string,
  organizationId: string,
  ref: AnnotationRef,
  users: readonly InvolvedUser[],
): Promise<void> {
  const { documentId, number } = ref
  await db
    .deleteFrom('annotation_users')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('number', '=', number)
    .execute()
  const rows = users.map((user) => ({ documentId, number, ...user }))
  await involve(db, apiKey, organizationId, rows)
  await checkInvolved(db, apiKey, organizationId, [ref])
}

/** Gives what users did in an annotation to others: their reactions, and what they have seen. `newIds` is by old id. */
export async function replaceUsers(
  db: Db,
  apiKey: string,
  organizationId: string,
  { documentId, number }: AnnotationRef,
  newIds: ReadonlyMap<string, string>,
): Promise<void> {
  for (const table of ['comment_reactions', 'annotation_views'] as const) {
    const removed = await db
      .deleteFrom(table)
      .where('api_key', '=', apiKey)
      .where('organization_id', '=', organizationId)
      .where('document_id', '=', documentId)
      .where('number', '=', number)
      .where('user_id', 'in', [...newIds.keys()])
      .returningAll()
      .execute()
    if (removed.length === 0) continue
    const rows = removed.map((row) => ({ ...row, user_id: newIds.get(row.user_id) as string }))
    await db
      .insertInto(table)
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

const selectOf = (db: Db, apiKey: string, organizationId: string, { documentId, number }: AnnotationRef) =>
  db
    .selectFrom('comments')
    .selectAll()
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('number', '=', number)

/** The comment with this id or, if there is none, the first comment of the annotation. */
export async function findOrFirst(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotation: AnnotationRef,
  commentId: number | null,
): Promise<StoredComment | undefined> {
  const ofAnnotation = selectOf(db, apiKey, organizationId, annotation)
  const named =
    commentId === null ? undefined : await ofAnnotation.where('comment_id', '=', commentId).executeTakeFirst()
  const row = named ?? (await ofAnnotation.orderBy('position').limit(1).executeTakeFirst())
  return row && toComment(row)
}

/** The comment of the annotation that was created at this time. */
export async function findCreatedAt(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotation: AnnotationRef,
  createdAt: number,
): Promise<StoredComment | undefined> {
  const row = await selectOf(db, apiKey, organizationId, annotation)
    .where('created_at', '=', createdAt)
    .limit(1)
    .executeTakeFirst()
  return row && toComment(row)
}

/** The first comment of an annotation, the last one, and the one before this comment. */
export async function findNeighbours(
  db: Db,
  apiKey: string,
  organizationId: string,
  annotation: AnnotationRef,
  { position }: Pick<StoredComment, 'position'>,
): Promise<{ first?: StoredComment; previous?: StoredComment; latest?: StoredComment }> {
  const ofAnnotation = selectOf(db, apiKey, organizationId, annotation).limit(1)
  const descending = ofAnnotation.orderBy('position', 'desc')
  const rows = {
    first: await ofAnnotation.orderBy('position').executeTakeFirst(),
    previous: await descending.where('position', '<', position).executeTakeFirst(),
    latest: await descending.executeTakeFirst(),
  }
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, row]) => (row ? [[name, toComment(row)]] : [])),
  )
}

/** The ids of the comments of an annotation. */
export async function findIds(
  db: Db,
  apiKey: string,
  organizationId: string,
  { documentId, number }: AnnotationRef,
): Promise<Set<number>> {
  const rows = await db
    .selectFrom('comments')
    .select('comment_id')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('number', '=', number)
    .execute()
  return new Set(rows.map((row) => row.comment_id))
}
