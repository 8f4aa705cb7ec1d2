import { ApiError, type CommentData, commentLimits, type UserInput } from '@plenum/protocol'
import type { CallingUser } from '../../calls/call.ts'
import { newCommentId } from '../../access/ids.ts'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import type { CommentContent } from '../../store/comments/annotation.ts'
import { commentText, type InvolvedUser } from '../../store/comments/comments.ts'
import { unique } from '../shared/batches.ts'
import { withNewest } from '../../threads/counters.ts'
import { authorOf, refuseFields } from './acting-user.ts'
import type { NamedUser } from './authors.ts'
import { bracedIds, contentOf } from './new-comment.ts'

/** A comment of the input, checked, before its place in an annotation is known. */
export interface ReadComment {
  sent: CommentData
  author: UserInput
  content: CommentContent
  /** Ids between double braces in the text. */
  braced: readonly string[]
  /** Users whom the comment names; they must exist. */
  named: NamedUser[]
}

/** Reads the comments of an input. `path` names their list in error messages. */
export function readComments(
  sent: readonly CommentData[],
  path: string,
  user: CallingUser | undefined,
): ReadComment[] {
  return sent.map((comment, index) => {
    const at = `${path}[${index}].`
    refuseFields(user, comment, backendFields, at)
    const author = authorOf(user, comment.from, at)
    const content = contentOf(comment, at)
    const named = content.mentioned.map((userId) => ({ userId, field: `${at}taggedUserContacts` }))
    return { sent: comment, author, content, braced: bracedIds(content, at), named }
  })
}

const backendFields = ['createdAt', 'lastUpdated', 'triggerNotification', 'triggerActivities'] as const

/** The largest sum of the comments of one annotation, as JSON: one read loads all of them. */
const maxThreadBytes = 2 * 1024 * 1024

interface Place {
  seq: number
  now: number
  /** Ids of comments that the annotation has. */
  usedIds: ReadonlySet<number>
  existingUsers: ReadonlySet<string>
}

/** Appends comments to an annotation. Returns the annotation with its new counters, the comments, and the involved users. */
export function appendComments(
  annotation: StoredAnnotation,
  read: readonly ReadComment[],
  { seq, now, usedIds, existingUsers }: Place,
): { annotation: StoredAnnotation; added: StoredComment[]; involved: InvolvedUser[] } {
  const ids = new Set(usedIds)
  const changed = { ...annotation }
  const involved: InvolvedUser[] = []
  const added = read.map(({ sent, author, content, braced }): StoredComment => {
    const mentioned = unique([...content.mentioned, ...braced.filter((id) => existingUsers.has(id))])
    const comment: StoredComment = {
      commentId: takeId(ids, sent.commentId),
      position: ++changed.lastPosition,
      seq,
      authorId: author.userId,
      content: { ...content, mentioned },
      createdAt: sent.createdAt ?? now,
      lastUpdated: sent.lastUpdated ?? now,
    }
    changed.comments += 1
    changed.commentBytes += commentText(comment).length
    Object.assign(changed, withNewest(changed, comment))
    involved.push({ userId: author.userId, involvement: 'commented' })
    involved.push(...mentioned.map((userId) => ({ userId, involvement: 'mentioned' as const })))
    return comment
  })
  const { commentsPerAnnotation: max } = commentLimits
  if (changed.comments > max) {
    throw new ApiError('INVALID_ARGUMENT', `An annotation can have at most ${max} comments.`)
  }
  if (changed.commentBytes > maxThreadBytes) {
    throw new ApiError('INVALID_ARGUMENT', 'The comments of an annotation can have at most 2 MiB.')
  }
  return { annotation: changed, added, involved }
}

function takeId(used: Set<number>, sent: number | undefined): number {
  if (sent !== undefined && used.has(sent)) {
    throw new ApiError('ALREADY_EXISTS', `Comment ${sent} already exists.`)
  }
  let id = sent ?? newCommentId()
  while (used.has(id)) id = newCommentId()
  used.add(id)
  return id
}
