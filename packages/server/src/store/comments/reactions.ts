import { sql } from 'kysely'
import { batched } from '../engine/batched.ts'
import type { Db } from '../engine/db.ts'
import type { AnnotationRef } from './annotation.ts'
import { annotationKey, belongsTo } from './annotation-key.ts'

/** A reaction of a user to a comment. */
export interface ReactionRef extends AnnotationRef {
  commentId: number
  icon: string
  userId: string
}

const rowOf = (
  apiKey: string,
  organizationId: string,
  { documentId, number, commentId, icon, userId }: ReactionRef,
) => ({
  api_key: apiKey,
  organization_id: organizationId,
  document_id: documentId,
  number,
  comment_id: commentId,
  icon,
  user_id: userId,
})

/** Adds a reaction. Returns false if the user has reacted with this icon before. */
export async function add(
  db: Db,
  apiKey: string,
  organizationId: string,
  reaction: ReactionRef,
  now: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('comment_reactions')
    .values({ ...rowOf(apiKey, organizationId, reaction), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** Removes a reaction. Returns false if there is none. */
export async function remove(
  db: Db,
  apiKey: string,
  organizationId: string,
  reaction: ReactionRef,
): Promise<boolean> {
  let query = db.deleteFrom('comment_reactions')
  for (const [column, value] of Object.entries(rowOf(apiKey, organizationId, reaction))) {
    query = query.where(column as keyof ReturnType<typeof rowOf>, '=', value)
  }
  return (await query.executeTakeFirst()).numDeletedRows > 0n
}

export async function removeMany(
  db: Db,
  apiKey: string,
  organizationId: string,
  reactions: readonly ReactionRef[],
): Promise<void> {
  await deleteMany(
    db,
    reactions.map((reaction) => rowOf(apiKey, organizationId, reaction)),
  )
}

const deleteMany = batched(
  {
    ...annotationKey,
    comment_id: 'bigint',
    icon: 'text',
    user_id: 'text',
  },
  ({ row, fromRows, isPostgres }) => {
    const isRow = sql`${belongsTo('c', row)} and c.comment_id = ${row.comment_id} and c.icon = ${row.icon}
      and c.user_id = ${row.user_id}`
    const using = isPostgres ? sql`using (select r.* ${fromRows}) as r` : sql``
    return sql`delete from comment_reactions as c ${using} where ${isRow}`
  },
)
