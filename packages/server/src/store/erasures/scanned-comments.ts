import { sql } from 'kysely'
import type { AnnotationRef, CommentContent } from '../comments/annotation.ts'
import { refKey } from '../comments/comments.ts'
import type { RowStep } from '../deletions/row-step.ts'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { withoutUsersInComment } from './erased-content.ts'
import { scanRows } from './row-scan.ts'
import { type ErasedUsers, idsOf } from './user-rows.ts'

/** A step that reads all comments of an organization, and shows the annotations of those that name the users to `visit`. */
export function scanComments(
  erased: ErasedUsers,
  visit: (db: Db, annotations: readonly AnnotationRef[]) => Promise<'again' | undefined>,
): RowStep {
  const { apiKey, organizationId } = erased
  const ids = idsOf(erased)
  const texts = [...ids.userIds, ...ids.addresses].map((id) => JSON.stringify(id).slice(1, -1).toLowerCase())
  const mayName = (json: string) => {
    const lower = json.toLowerCase()
    return texts.some((text) => lower.includes(text))
  }
  return scanRows({
    table: 'comments',
    key: ['document_id', 'number', 'comment_id'],
    columns: ['author_id', 'data'],
    where: sql`api_key = ${apiKey} and organization_id = ${organizationId}`,
    rowsPerStep: 50,
    async visit(db, rows) {
      const naming = rows.filter(
        ({ data, author_id }) =>
          ids.userIds.has(author_id) ||
          (mayName(data) && withoutUsersInComment(parse<CommentContent>(data), ids) !== undefined),
      )
      const refs = naming.map(({ document_id, number }) => ({ documentId: document_id, number }))
      return refs.length > 0
        ? visit(db, [...new Map(refs.map((ref) => [refKey(ref), ref])).values()])
        : undefined
    },
  })
}
