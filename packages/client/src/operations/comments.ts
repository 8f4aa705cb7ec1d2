// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { CommentData, Comment } from './comment-annotations.ts'
import type { TaggedUser, Attachment } from './user-data.ts'
import type { UserInput } from './notifications.ts'

export interface CommentChange {
  /**
   * The comment as plain text. `{{userId}}` mentions a user; an id that no user has is shown as text.
   * Required unless `commentHtml` or `attachments` is sent. At most 10,000 characters. Must not contain
   * control characters other than line breaks and tabs.
   */
  commentText?: string
  /**
   * The comment as HTML. Stored with formatting only: scripts, styles, event handlers and unsafe links are
   * removed. At most 20,000 characters. Must not contain control characters other than line breaks and tabs.
   */
  commentHtml?: string
  /** The users that the comment mentions. At most 100 items. */
  taggedUserContacts?: TaggedUser[]
  /** Data of your application. Stored as sent. Ignored under v1. */
  context?: Record<string, unknown>
  /** Descriptions of files. The files themselves are stored elsewhere. At most 50 items. Ignored under v1. */
  attachments?: Attachment[]
  /** True: your application stores the text, so it may be absent here. */
  isCommentResolverUsed?: boolean
  /** Whether your application has the text. Stored as sent. */
  isCommentTextAvailable?: boolean
  /** The author. Default: the author stays. */
  from?: UserInput
}

export interface CommentOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Id of the comment inside the annotation. At least 0. */
  id: number
  /** What happened to this item. */
  message: string
}

export interface ReactionInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** Id of the comment inside the annotation. At least 0. */
  commentId: number
  /**
   * The icon of the reaction: a name such as `HEART_FACE`, or an emoji. At most 64 characters. Must not be
   * blank and must not contain control characters.
   */
  icon: string
  /** The user who acts. Required for backends. With a user token, it is the user of the token. */
  userId?: string
}

export interface CommentsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** Whether to create the organization if it does not exist. Default: false. Ignored under v1. */
  createOrganization?: boolean
  /** Whether to create the document if it does not exist. Default: false. Ignored under v1. */
  createDocument?: boolean
  /**
   * True: comments of authors who may not write in the document are refused. Default: false. Ignored under
   * v1.
   */
  verifyUserPermissions?: boolean
  /** The comments, oldest first. From 1 to 100 items. */
  commentData: CommentData[]
}

export interface CommentsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** Only comments with these ids. From 1 to 500 items. Each: at least 0. */
  commentIds?: number[]
  /** Only comments of these authors. At most 30 items. */
  userIds?: string[]
}

export interface CommentsUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** The comments to change. From 1 to 500 items. Each: at least 0. */
  commentIds: number[]
  /** The fields to change. */
  updatedData: CommentChange
  /** True: users are notified as if a client had made the change. Default: false. Ignored under v1. */
  triggerNotification?: boolean
}

export interface CommentsDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** The comments to delete. Default: all. From 1 to 500 items. Each: at least 0. */
  commentIds?: number[]
}

export type CommentsAddReactionInput = ReactionInput

export type CommentsDeleteReactionInput = ReactionInput

/** The comments of a thread. */
export interface CommentsOperations {
  /**
   * Adds comments to an annotation.
   *
   * @returns Ids of the new comments.
   *
   * `POST /v2/commentannotations/comments/add`
   */
  add(input: CommentsAddInput, options?: CallOptions): Promise<Result<number[]>>
  /**
   * Reads the comments of an annotation, oldest first. With `commentIds`, the answer has `null` in the place
   * of each comment that does not exist.
   *
   * `POST /v2/commentannotations/comments/get`
   */
  get(input: CommentsGetInput, options?: CallOptions): Promise<Result<(Comment | null)[]>>
  /**
   * Changes comments of an annotation. A sent field replaces the stored one. The comments are then marked as
   * edited.
   *
   * @returns The result for each comment, by its id.
   *
   * `POST /v2/commentannotations/comments/update`
   */
  update(input: CommentsUpdateInput, options?: CallOptions): Promise<Result<Record<string, CommentOutcome>>>
  /**
   * Deletes comments of an annotation. Without `commentIds`, all comments are deleted. An annotation without
   * comments is deleted too.
   *
   * @returns The result for each comment, by its id.
   *
   * `POST /v2/commentannotations/comments/delete`
   */
  delete(input: CommentsDeleteInput, options?: CallOptions): Promise<Result<Record<string, CommentOutcome>>>
  /**
   * Adds the reaction of a user to a comment. A user reacts to a comment once with each icon. Adding it again
   * changes nothing.
   *
   * `POST /v2/commentannotations/comments/reactions/add`
   */
  addReaction(input: CommentsAddReactionInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Removes the reaction of a user to a comment. Removing a reaction that is not there changes nothing.
   *
   * `POST /v2/commentannotations/comments/reactions/delete`
   */
  deleteReaction(input: CommentsDeleteReactionInput, options?: CallOptions): Promise<Result<null>>
}
