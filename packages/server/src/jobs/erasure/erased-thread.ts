import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import { withoutMentionsIn, withoutUsers } from '../../store/erasures/without-users.ts'
import { audienceOf } from '../../threads/audience-of.ts'

type Ids = ReadonlySet<string>

/** The comment of another user without mentions of the erased users. Undefined: it mentions none of them. */
export function withoutMentionsOf(comment: StoredComment, userIds: Ids): StoredComment | undefined {
  const content = withoutMentionsIn(comment.content, userIds)
  return content && { ...comment, content }
}

/** Whether the annotation itself names one of the users. */
export function namesErased(annotation: StoredAnnotation, userIds: Ids): boolean {
  const { authorId, assigneeId, resolvedBy, lastCommentBy, data, audience } = annotation
  return (
    [authorId, assigneeId, resolvedBy, lastCommentBy].some((id) => id !== null && userIds.has(id)) ||
    [data, audience].some((json) => JSON.stringify(withoutUsers(json, userIds)) !== JSON.stringify(json))
  )
}

/**
 * The annotation without the users. `left` are the comments of others. The author of the first of them becomes the author
 * of the annotation, if its author is erased (spec 22.6).
 */
export function withoutErased(
  annotation: StoredAnnotation,
  left: readonly StoredComment[],
  userIds: Ids,
  { organizationId, seq }: { organizationId: string; seq: number },
): StoredAnnotation {
  const kept = (id: string | null) => (id !== null && userIds.has(id) ? null : id)
  const authorId = kept(annotation.authorId) ?? left[0]?.authorId ?? annotation.authorId
  const data = withoutUsers(annotation.data, userIds) as StoredAnnotation['data']
  const { visibility, context } = data
  const audience = audienceOf({ visibility, context, authorId, organizationId })
  return {
    ...annotation,
    authorId,
    assigneeId: kept(annotation.assigneeId),
    resolvedBy: kept(annotation.resolvedBy),
    // If nobody is left who could be the author, the annotation is removed, and only the record of that is stored.
    audience: audience && (withoutUsers(audience, userIds) as typeof audience),
    audienceSeq: annotation.audience === null ? annotation.audienceSeq : seq,
    data,
  }
}
