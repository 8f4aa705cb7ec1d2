import { ApiError, commentLimits } from '@plenum/protocol'
import type { StoredAnnotation, StoredComment } from '../store/comments/annotation.ts'
import { commentSize, type InvolvedUser } from '../store/comments/comments.ts'

/** The annotation with the counters that follow from its comments, of which there is at least one. Refuses too many of them. */
export function withComments(annotation: StoredAnnotation, left: readonly StoredComment[]): StoredAnnotation {
  const changed = { ...annotation, comments: left.length, commentBytes: 0, ...noComments(annotation) }
  for (const comment of left) {
    changed.commentBytes += commentSize(comment)
    Object.assign(changed, withNewest(changed, comment))
  }
  checkThread(changed)
  return changed
}

const noComments = ({ authorId }: StoredAnnotation) => ({
  lastCommentSeq: 0,
  lastCommentBy: authorId,
  otherCommentSeq: 0,
})

/** The largest sum of the sizes of an annotation's comments: one read loads all of them. */
const maxThreadBytes = 2 * 1024 * 1024

/** Refuses an annotation with too many comments. */
export function checkThread({ comments, commentBytes }: StoredAnnotation): void {
  const { commentsPerAnnotation: max } = commentLimits
  if (comments > max) {
    throw new ApiError('INVALID_ARGUMENT', `An annotation can have at most ${max} comments.`)
  }
  if (commentBytes > maxThreadBytes) {
    throw new ApiError('INVALID_ARGUMENT', 'The comments of an annotation can have at most 2 MiB.')
  }
}

/** Who is involved after comments changed: the choices that users made stay. */
export function involvedIn(
  { assigneeId }: StoredAnnotation,
  left: readonly StoredComment[],
  before: readonly InvolvedUser[],
): InvolvedUser[] {
  const chosen = before.filter(isChoice)
  return [
    ...chosen,
    ...(assigneeId === null ? [] : [{ userId: assigneeId, involvement: 'assigned' as const }]),
    ...left.flatMap(({ authorId, content }) => [
      { userId: authorId, involvement: 'commented' as const },
      ...content.mentioned.map((userId) => ({ userId, involvement: 'mentioned' as const })),
    ]),
  ]
}

/** Whether the user chose to be subscribed or not. */
export const isChoice = ({ involvement }: InvolvedUser) =>
  involvement === 'subscribed' || involvement === 'unsubscribed'

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
