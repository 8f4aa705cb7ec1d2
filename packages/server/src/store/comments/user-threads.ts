import { sql } from 'kysely'
import type { Cursor, Db } from '../engine/db.ts'
import { sqliteOf } from '../engine/prepared.ts'
import type { CommentReactionTable } from '../schema/comment-tables.ts'
import type { AnnotationRef } from './annotation.ts'
import { refKey } from './comments.ts'
import type { ReactionRef } from './reactions.ts'

/** Some annotations in which these users are involved, in any order. */
export async function findInvolving(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  max: number,
): Promise<AnnotationRef[]> {
  const rows = await db
    .selectFrom('annotation_users')
    .select(['document_id', 'number'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .limit(max)
    .execute()
  const refs = rows.map(({ document_id, number }) => ({ documentId: document_id, number }))
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()]
}

/** Some reactions of these users, in any order. */
export async function findReactionsOf(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
  max: number,
): Promise<ReactionRef[]> {
  // With many ids SQLite, which has no statistics, would read all reactions of the organization.
  const byUser = sqliteOf(db)
    ? sql`comment_reactions indexed by comment_reactions_by_organization_id_user_id_created_at`
    : sql`comment_reactions`
  type Row = Pick<CommentReactionTable, 'document_id' | 'number' | 'comment_id' | 'icon' | 'user_id'>
  const { rows } = await sql<Row>`
    select document_id, number, comment_id, icon, user_id from ${byUser}
    where api_key = ${apiKey} and organization_id = ${organizationId} and user_id in (${sql.join(userIds)})
    limit ${max}`.execute(db)
  return rows.map((row) => ({
    documentId: row.document_id,
    number: row.number,
    commentId: row.comment_id,
    icon: row.icon,
    userId: row.user_id,
  }))
}

/** Lists the annotations in which a user is involved, by document and number, from this one on. */
export async function listThreadsOf(
  db: Db,
  apiKey: string,
  { organizationId, userId }: { organizationId: string; userId: string },
  { documentId, number }: AnnotationRef,
  limit: number,
): Promise<AnnotationRef[]> {
  const rows = await db
    .selectFrom('annotation_users')
    .select(['document_id', 'number'])
    .distinct()
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where(sql<boolean>`(document_id, number) >= (${documentId}, ${number})`)
    .orderBy('document_id')
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ documentId: row.document_id, number: row.number }))
}

/** A reaction and the id of its annotation. */
export interface ReactionOfUser extends Omit<ReactionRef, 'userId'> {
  annotationId: string
  createdAt: number
}

/** Lists the reactions of a user by time. */
export async function listReactionsOf(
  db: Db,
  apiKey: string,
  { organizationId, userId }: { organizationId: string; userId: string },
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<ReactionOfUser[]> {
  const order = ['created_at', 'document_id', 'number', 'comment_id', 'icon'] as const
  const refs = sql.join(order.map((column) => sql.ref(`r.${column}`)))
  let query = db
    .selectFrom('comment_reactions as r')
    .innerJoin('annotations as a', (join) =>
      join
        .onRef('a.api_key', '=', 'r.api_key')
        .onRef('a.organization_id', '=', 'r.organization_id')
        .onRef('a.document_id', '=', 'r.document_id')
        .onRef('a.number', '=', 'r.number'),
    )
    .select(['r.document_id', 'r.number', 'r.comment_id', 'r.icon', 'r.created_at', 'a.annotation_id'])
    .where('r.api_key', '=', apiKey)
    .where('r.organization_id', '=', organizationId)
    .where('r.user_id', '=', userId)
    .limit(limit)
  for (const column of order) query = query.orderBy(`r.${column}`)
  if (after) query = query.where(sql<boolean>`(${refs}) > (${sql.join(after)})`)
  const rows = await query.execute()
  return rows.map((row) => ({
    documentId: row.document_id,
    annotationId: row.annotation_id,
    number: row.number,
    commentId: row.comment_id,
    icon: row.icon,
    createdAt: row.created_at,
  }))
}
