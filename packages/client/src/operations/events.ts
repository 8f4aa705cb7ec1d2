// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NamedUser } from './comment-annotations.ts'

export interface EventBatch {
  /** The events, in order. */
  events: Event[]
  /** Send it as `after` to continue. */
  after: string
  /** Whether there may be more events already. */
  hasMore: boolean
}

export interface Event {
  /**
   * Id of the event. It never changes, so it can be used to detect repetitions. It says nothing about the
   * order.
   */
  id: string
  /** What happened, such as `comment.add`. */
  name: string
  /** A number made from the id. It says nothing about the order, and does not count events. */
  number: number
  /** Id of the organization. */
  organizationId?: string
  /** Id of the document. */
  documentId?: string
  /** Id of the annotation that the event is about. */
  annotationId?: string
  /** The user who caused the event. */
  actor?: NamedUser
  /** What changed, depending on the name of the event. */
  payload: Record<string, unknown>
  /** When it happened, as Unix time in milliseconds. */
  timestamp: number
}

export interface EventsGetInput {
  /**
   * Only events after this position: the `after` of the last answer. Default: all events. At most 200
   * characters.
   */
  after?: string
  /** Only events with these names. From 1 to 30 items. */
  names?: ('comment_annotation.add' | 'comment_annotation.assign' | 'comment_annotation.status_change' | 'comment_annotation.priority_change' | 'comment_annotation.custom_list_change' | 'comment_annotation.access_mode_change' | 'comment_annotation.subscribe' | 'comment_annotation.unsubscribe' | 'comment_annotation.accept' | 'comment_annotation.reject' | 'comment_annotation.approve' | 'comment_annotation.suggestion_accept' | 'comment_annotation.suggestion_reject' | 'comment.add' | 'comment.update' | 'comment.delete' | 'comment.reaction_add' | 'comment.reaction_delete' | 'huddle.create' | 'huddle.join' | 'crdt.update_data' | 'recorder.done' | 'message.attempt.exhausted' | 'comment_annotation.update' | 'comment_annotation.delete')[]
  /** Only events of this organization. */
  organizationId?: string
  /** Only events of this document. Requires `organizationId`. */
  documentId?: string
  /** Maximum number of events. Default: 100. From 1 to 500. */
  limit?: number
  /**
   * If there are no events, wait this many seconds for one, and answer at once when it is there. For backends
   * only. Default: 0. From 0 to 20.
   */
  wait?: number
}

/** The log of all changes under an API key, in order, for backends that would rather pull than be called. */
export interface EventsOperations {
  /**
   * Reads the event log of the API key: every change of comments and editors, once, in order. Send the
   * `after` of the last answer to continue. A reader that continues never misses an event, also not one that
   * was committed late. Events are removed after `EVENT_RETENTION_DAYS`; a reader that is further behind gets
   * an error. With a user token, `organizationId` and `documentId` are required, and the answer has only
   * events that the user may see.
   *
   * `POST /v2/events/get`
   */
  get(input?: EventsGetInput, options?: CallOptions): Promise<Result<EventBatch>>
}
