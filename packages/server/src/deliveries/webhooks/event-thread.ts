import type { StoredComment } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { type Contents, findContents, refKey } from '../../store/comments/comments.ts'
import { commentSize } from '../../store/comments/comments.ts'
import type { Db } from '../../store/engine/db.ts'
import { audienceOf } from '../../threads/audience-of.ts'
import type { ShownAnnotation } from '../../threads/shown-annotations.ts'
import type { AnnotationSummary, CommentSummary } from '../../threads/thread-changes.ts'
import type { ThreadEvent } from './webhook-data.ts'

/** The thread that an event is about, as far as a webhook shows it. */
export interface EventThread {
  /** Undefined: the event no longer says what it is about, because a user was erased. */
  annotation: ShownAnnotation | undefined
  /** Its newest comments. */
  contents: Contents
  hasMoreComments: boolean
  target: StoredComment | undefined
  isDeleted: boolean
}

/** Comments are shown up to this size as they are stored. The names of users make them longer. */
const maxStoredBytes = 128 * 1024

/** Reads the thread of an event. If it was deleted meanwhile, the event says what it was. */
export async function readEventThread(db: Db, apiKey: string, event: ThreadEvent): Promise<EventThread> {
  const { organizationId, annotationId, commentId, name } = event
  const { annotation: summary, comment } = event.payload as {
    annotation: AnnotationSummary
    comment?: CommentSummary
  }
  const recorded = comment && toComment(comment)
  const [annotation] = await annotations.findByIds(db, apiKey, event, [annotationId])
  // Another annotation may have the id of a deleted one.
  if (annotation?.number !== summary.annotationNumber) {
    const comments = recorded ? [recorded] : []
    return {
      annotation: toAnnotation(event, summary),
      contents: { comments, reactions: [], users: [] },
      hasMoreComments: false,
      target: recorded,
      isDeleted: true,
    }
  }
  const found = await findContents(db, apiKey, organizationId, [annotation])
  const contents = found.get(refKey(annotation)) as Contents
  const stored = contents.comments.find((one) => one.commentId === commentId)
  const comments = newest(contents.comments)
  return {
    annotation,
    contents: { ...contents, comments },
    hasMoreComments: comments.length < contents.comments.length,
    target: name === 'comment.delete' ? recorded : (stored ?? recorded),
    isDeleted: false,
  }
}

function newest(comments: readonly StoredComment[]): StoredComment[] {
  let bytes = 0
  const tooMany = comments.findLastIndex((comment) => (bytes += commentSize(comment)) > maxStoredBytes)
  return comments.slice(tooMany + 1)
}

function toAnnotation(
  { organizationId, documentId }: ThreadEvent,
  summary: AnnotationSummary,
): ShownAnnotation | undefined {
  const { annotationId, annotationNumber, from, assignedTo, resolvedByUserId, ...rest } = summary
  const { createdAt, lastUpdated, ...data } = rest
  if (from === undefined) return undefined
  const { visibility, context } = data
  return {
    annotationId,
    documentId,
    number: annotationNumber,
    authorId: from.userId,
    assigneeId: assignedTo?.userId ?? null,
    resolvedBy: resolvedByUserId ?? null,
    locationId: null,
    audience: audienceOf({ visibility, context, authorId: from.userId, organizationId }),
    data,
    createdAt,
    lastUpdated,
  }
}

function toComment(summary: CommentSummary): StoredComment | undefined {
  const { commentId, from, createdAt, lastUpdated, ...content } = summary
  if (from === undefined) return undefined
  return { commentId, authorId: from.userId, content, position: 0, seq: 0, createdAt, lastUpdated }
}
