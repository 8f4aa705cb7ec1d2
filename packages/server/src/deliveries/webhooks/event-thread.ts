import type { StoredComment } from '../../store/comments/annotation.ts'
import { type Contents, commentSize, findContents, refKey } from '../../store/comments/comments.ts'
import type { Db } from '../../store/engine/db.ts'
import type { ShownAnnotation } from '../../threads/shown-annotations.ts'
import { findEventAnnotation } from '../event-annotation.ts'
import type { ThreadEvent } from '../../events/webhook-event.ts'

/** The thread that an event is about as it is now, as far as a webhook shows it. */
export interface EventThread {
  /** Undefined: it was deleted. */
  annotation: ShownAnnotation | undefined
  /** Its newest comments. */
  contents: Contents
  hasMoreComments: boolean
  /** The comment that the event is about. Undefined: there is none, or it was deleted. */
  target: StoredComment | undefined
}

/** Comments are shown up to this size as they are stored. The names of users make them longer. */
const maxStoredBytes = 128 * 1024

export async function readEventThread(db: Db, apiKey: string, event: ThreadEvent): Promise<EventThread> {
  const { organizationId, commentId, payload } = event
  const annotation = await findEventAnnotation(db, apiKey, {
    ...event,
    annotationNumber: payload.annotation.annotationNumber,
    annotationCreatedAt: payload.annotation.createdAt,
  })
  if (!annotation) {
    const contents = { comments: [], reactions: [], users: [] }
    return { annotation, contents, hasMoreComments: false, target: undefined }
  }
  const found = await findContents(db, apiKey, organizationId, [annotation])
  const contents = found.get(refKey(annotation)) as Contents
  const comments = newest(contents.comments)
  return {
    annotation,
    contents: { ...contents, comments },
    hasMoreComments: comments.length < contents.comments.length,
    target: contents.comments.find((one) => one.commentId === commentId),
  }
}

function newest(comments: readonly StoredComment[]): StoredComment[] {
  let bytes = 0
  const tooMany = comments.findLastIndex((comment) => (bytes += commentSize(comment)) > maxStoredBytes)
  return comments.slice(tooMany + 1)
}
