import type { ApiError } from '@plenum/protocol/errors'
import type {
  CommentAnnotation,
  CommentAnnotationChange,
  CommentAnnotationInput,
  CommentData,
} from '../../operations/index.ts'
import type { Unsubscribe } from '../../platform/listeners.ts'

/** A thread of comments, as the user of the connection sees it. */
export type Thread = CommentAnnotation

/** The state of the threads of a document. Immutable: a change gives a new object. */
export interface ThreadsState {
  /** The loaded threads, the one that changed last first. */
  readonly threads: readonly Thread[]
  /** Whether the first threads are still being loaded. */
  readonly isLoading: boolean
  /** Whether there are older threads, which `loadMore` loads. */
  readonly hasMore: boolean
  /** Why the threads could not be loaded. */
  readonly error: ApiError | undefined
}

/** A new comment of the user. */
export type NewComment = Pick<
  CommentData,
  'commentText' | 'commentHtml' | 'taggedUserContacts' | 'attachments' | 'context'
>

/** A new thread of the user. */
export type NewThread = Pick<
  CommentAnnotationInput,
  | 'annotationId'
  | 'location'
  | 'targetElement'
  | 'targetEditor'
  | 'priority'
  | 'assignedTo'
  | 'context'
  | 'type'
  | 'suggestion'
  | 'visibility'
  | 'pageInfo'
> &
  NewComment

/**
 * The comment threads of a document that the user may see, kept current while there is a subscriber. A method rejects with an
 * `ApiError` if the server refuses it. While offline, methods wait for the connection; a change is made once, also if the
 * connection is lost before the answer.
 */
export interface Threads extends ThreadsState {
  /** The state as one object, which is replaced on every change. */
  readonly state: ThreadsState
  /** Calls the listener on every later change of the state. */
  subscribe(listener: (threads: Threads) => void): Unsubscribe
  /** Loads older threads. */
  loadMore(): Promise<void>
  /**
   * Starts a thread with a first comment. Resolves with the id of the thread. Emails link to `pageInfo`, by default the page in
   * which the user is.
   */
  add(thread: NewThread): Promise<string>
  /** Adds a comment. Resolves with the id of the comment. */
  reply(annotationId: string, comment: NewComment): Promise<number>
  /** Changes a comment of the user. */
  edit(annotationId: string, commentId: number, comment: NewComment): Promise<void>
  /** Deletes a comment. The last comment takes its thread with it. */
  deleteComment(annotationId: string, commentId: number): Promise<void>
  /** Deletes a thread. */
  delete(annotationId: string): Promise<void>
  /** Changes status, priority, assignment, visibility and other properties of a thread. */
  update(annotationId: string, change: CommentAnnotationChange): Promise<void>
  /** Marks a thread as resolved. */
  resolve(annotationId: string): Promise<void>
  /** Opens a resolved thread again. */
  reopen(annotationId: string): Promise<void>
  /** Reacts to a comment, with a name such as `HEART_FACE` or an emoji. */
  react(annotationId: string, commentId: number, icon: string): Promise<void>
  /** Removes the reaction of the user. */
  removeReaction(annotationId: string, commentId: number, icon: string): Promise<void>
  /** Marks all comments of threads as read. */
  markViewed(...annotationIds: string[]): Promise<void>
}

export const unloadedThreads: ThreadsState = {
  threads: [],
  isLoading: true,
  hasMore: false,
  error: undefined,
}
