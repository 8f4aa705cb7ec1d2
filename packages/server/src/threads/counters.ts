import type { StoredAnnotation, StoredComment } from '../store/comments/annotation.ts'
import { commentText, type InvolvedUser } from '../store/comments/comments.ts'

/** The annotation with the counters that follow from its comments, of which there is at least one. */
export function withComments(annotation: StoredAnnotation, left: readonly StoredComment[]): StoredAnnotation {
  const changed = { ...annotation, comments: left.length, commentBytes: 0, ...noComments(annotation) }
  for (const comment of left) {
    changed.commentBytes += commentText(comment).length
    Object.assign(changed, withNewest(changed, comment))
  }
  return changed
}

const noComments = ({ authorId }: StoredAnnotation) => ({
  lastCommentSeq: 0,
  lastCommentBy: authorId,
  otherCommentSeq: 0,
})

/** Who is involved after comments changed: the choices that users made stay. */
export function involvedIn(
  { assigneeId }: StoredAnnotation,
  left: readonly StoredComment[],
  before: readonly InvolvedUser[],
): InvolvedUser[] {
  const chosen = before.filter(({ involvement }) => ['subscribed', 'unsubscribed'].includes(involvement))
  return [
    ...chosen,
    ...(assigneeId === null ? [] : [{ userId: assigneeId, involvement: 'assigned' as const }]),
    ...left.flatMap(({ authorId, content }) => [
      { userId: authorId, involvement: 'commented' as const },
      ...content.mentioned.map((userId) => ({ userId, involvement: 'mentioned' as const })),
    ]),
  ]
}

/** The newest comment, and the newest comment of any other author. */
export function withNewest(
  {
    lastCommentSeq,
    lastCommentBy,
    otherCommentSeq,
  }: Pick<StoredAnnotation, 'lastCommentSeq' | 'lastCommentBy' | 'otherCommentSeq'>,
  { seq, authorId }: StoredComment,
) {
  return {
    lastCommentSeq: seq,
    lastCommentBy: authorId,
    otherCommentSeq: lastCommentBy === authorId ? otherCommentSeq : lastCommentSeq,
  }
}
