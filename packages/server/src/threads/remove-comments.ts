import type { StoredAnnotation, StoredComment } from '../store/comments/annotation.ts'
import type { Contents } from '../store/comments/comments.ts'
import * as comments from '../store/comments/comments.ts'
import { involvedIn, withComments } from './counters.ts'
import { type ThreadChanges, type ThreadContext } from './thread-changes.ts'

/** An annotation with everything that belongs to it. */
export type Thread = Contents & { annotation: StoredAnnotation }

/** What the events of a removal say. */
interface RemovalEvents {
  /** The user who removes. */
  actorId?: string | undefined
  notifies: boolean
  /** What replaces the content of a comment and its annotation in the event. Default: nothing. */
  payloadOf?: (comment: StoredComment) => Record<string, unknown>
  /** What the event of the annotation says, if it is removed. Default: everything. */
  annotationPayload?: Record<string, unknown>
}

/** Removes comments of an annotation. The annotation is removed with its last comment. */
export async function removeComments(
  { db, caller: { apiKey }, now }: ThreadContext,
  changes: ThreadChanges,
  organizationId: string,
  { annotation, comments: stored, users }: Thread,
  removed: readonly StoredComment[],
  { actorId, notifies, payloadOf = () => ({}), annotationPayload = {} }: RemovalEvents,
): Promise<void> {
  for (const comment of removed) {
    const payload = payloadOf(comment)
    changes.record({ name: 'comment.delete', annotation, actorId, notifies, comment, payload })
  }
  const ids = new Set(removed.map(({ commentId }) => commentId))
  const left = stored.filter(({ commentId }) => !ids.has(commentId))
  if (left.length === 0) {
    changes.remove(annotation)
    const event = { name: 'comment_annotation.delete', annotation, actorId, notifies: false } as const
    changes.record({ ...event, payload: annotationPayload })
    return
  }
  if (ids.size > 0) await comments.remove(db, apiKey, organizationId, annotation, [...ids])
  await comments.setInvolved(db, apiKey, organizationId, annotation, involvedIn(annotation, left, users))
  changes.put({ ...withComments(annotation, left), lastUpdated: now })
}
