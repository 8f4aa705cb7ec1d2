import { isDeepStrictEqual } from 'node:util'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import {
  withoutTextsOfAuthor,
  withoutUsersInAnnotation,
  withoutUsersInAudience,
  withoutUsersInComment,
} from '../../store/erasures/erased-content.ts'
import type { ErasedIds } from '../../store/erasures/without-users.ts'
import { audienceOf } from '../../threads/audience-of.ts'

/** The comment of another user without the erased users. Undefined: it names none of them. */
export function withoutUsersOf(comment: StoredComment, erased: ErasedIds): StoredComment | undefined {
  const content = withoutUsersInComment(comment.content, erased)
  return content && { ...comment, content }
}

/** Whether the annotation itself names one of the users. */
export function namesErased(annotation: StoredAnnotation, erased: ErasedIds): boolean {
  const { authorId, assigneeId, resolvedBy, lastCommentBy, data, audience } = annotation
  return (
    [authorId, assigneeId, resolvedBy, lastCommentBy].some((id) => id !== null && erased.userIds.has(id)) ||
    !isDeepStrictEqual(withoutUsersInAnnotation(data, erased), data) ||
    (audience !== null && withoutUsersInAudience(audience, erased) !== undefined)
  )
}

/**
 * The annotation without the users. `left` are the comments of others. The author of the first of them becomes the author
 * of the annotation, if its author is erased (spec 22.6).
 */
export function withoutErased(
  annotation: StoredAnnotation,
  left: readonly StoredComment[],
  erased: ErasedIds,
  { organizationId, seq }: { organizationId: string; seq: number },
): StoredAnnotation {
  const kept = (id: string | null) => (id !== null && erased.userIds.has(id) ? null : id)
  const authorId = kept(annotation.authorId) ?? left[0]?.authorId ?? annotation.authorId
  const isOfErased = authorId !== annotation.authorId
  const data = withoutUsersInAnnotation(
    isOfErased ? withoutTextsOfAuthor(annotation.data) : annotation.data,
    erased,
  )
  const { visibility, context } = data
  const audience = audienceOf({ visibility, context, authorId, organizationId })
  return {
    ...annotation,
    authorId,
    assigneeId: kept(annotation.assigneeId),
    resolvedBy: kept(annotation.resolvedBy),
    // If nobody is left who could be the author, the annotation is removed, and only the record of that is stored.
    audience: audience && (withoutUsersInAudience(audience, erased) ?? audience),
    audienceSeq: annotation.audience === null ? annotation.audienceSeq : seq,
    data,
  }
}
