// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { Outcome } from './organizations.ts'
import type { CommentLocation } from './locations.ts'
import type { UserInput } from './notifications.ts'
import type { User } from './users.ts'
import type { TaggedUser, Attachment, Reaction } from './user-data.ts'

export interface CommentAnnotationInput {
  /**
   * Id of the annotation. Default: a new id. At most 256 characters. Must not contain ":" or control
   * characters and must not be "." or "..".
   */
  annotationId?: string
  /** Where in the document the annotation is. */
  location?: CommentLocation
  /** What the annotation is attached to. */
  targetElement?: TargetElement
  /** The comments, oldest first. From 1 to 100 items. */
  commentData: CommentData[]
  /** Status of the annotation. Default: `OPEN`. */
  status?: Status
  /** Priority of the annotation. */
  priority?: Priority
  /** The user who should act on the annotation. */
  assignedTo?: UserInput
  /** Data of your application, and the access context. */
  context?: CommentContext
  /** Time of creation, in Unix milliseconds. Default: now. From 0 to 8,640,000,000,000,000. */
  createdAt?: number
  /** Time of the last change, in Unix milliseconds. Default: now. From 0 to 8,640,000,000,000,000. */
  lastUpdated?: number
  /** Kind of the annotation. Default: `comment`. Ignored under v1. */
  type?: 'comment' | 'suggestion'
  /** The proposed change. Only with `type: "suggestion"`. Ignored under v1. */
  suggestion?: Suggestion
  /** Default: `manual`. Ignored under v1. */
  commentType?: 'manual' | 'chart' | 'suggestion'
  /** Who sees the annotation. Default: `public`. Ignored under v1. */
  visibility?: Visibility
  /** The range of an editor that the annotation is about. Default: none. Ignored under v1. */
  targetEditor?: EditorRange | null
  /** The page on which the annotation was added. Ignored under v1. */
  pageInfo?: PageInfo
}

export interface AddedAnnotation {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Id of the annotation. */
  annotationId?: string
  /** Ids of the comments. */
  commentIds?: number[]
  /** What happened to this item. */
  message: string
}

export interface CommentAnnotation {
  /** Id of the annotation. */
  annotationId: string
  /** Number of the annotation in its document. It never changes. */
  annotationNumber: number
  /** Kind of the annotation. */
  type: 'comment' | 'suggestion'
  /** `manual` or `chart`. */
  commentType: string
  /** The page on which the annotation was added. */
  pageInfo?: PageInfo
  /** The comments, oldest first. */
  comments: Comment[]
  /** The author of the annotation. */
  from: User
  /** The status. */
  status: Status
  /** The priority. */
  priority?: Priority
  /** The user who should act on it. */
  assignedTo?: User
  /** Where in the document it is. */
  location?: CommentLocation
  /** The number of the location. */
  locationId?: number
  /** What it is attached to. */
  targetElement?: TargetElement
  /** The range of an editor that it is about. Only under v2. */
  targetEditor?: LocatedRange
  /** Data of your application, and the access context. */
  context?: CommentContext
  /** Who sees the annotation. */
  visibilityConfig: VisibilityConfig
  /** Users who wrote, are mentioned or assigned. */
  involvedUserIds: string[]
  /** Users whom a comment mentions. */
  mentionedUserIds: string[]
  /** Whether the user of the call has not seen the newest comment. */
  unread?: boolean
  /** The API key, organization, document and folder. */
  metadata: Record<string, unknown>
  /** When the annotation was added. In milliseconds; under v1 in ISO 8601. */
  createdAt: number | string
  /** When the annotation last changed. In milliseconds; under v1 in ISO 8601. */
  lastUpdated: number | string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface CommentAnnotationChange {
  /** The new location. */
  location?: CommentLocation
  /** What the annotation is attached to. */
  targetElement?: TargetElement
  /** The author of the annotation. */
  from?: UserInput
  /** The user who should act on the annotation. `null` removes the assignment. */
  assignedTo?: UserInput | null
  /** Data of your application, and the access context. */
  context?: CommentContext
  /** The new status. With only a `type`, the built-in status of that type. */
  status?: StatusChange
  /** The new priority. `null` removes it. */
  priority?: Priority | null
  /** The user who resolved the annotation. Only with a status of type `terminal`. Ignored under v1. */
  resolvedByUserId?: string | null
  /** The user who changed the status. Ignored under v1. */
  statusUpdatedByUserId?: string | null
  /** Replaces the suggestion. Its status goes from `pending` to another one, never back. Ignored under v1. */
  suggestion?: Suggestion
  /** Who sees the annotation from now on. Ignored under v1. */
  visibility?: Visibility
  /** The range of an editor that the annotation is about. `null` removes it. Ignored under v1. */
  targetEditor?: EditorRange | null
  /** Replaces the page of the annotation. Ignored under v1. */
  pageInfo?: PageInfo
}

export interface UserReplacement {
  /** The user to replace. */
  oldUser: NamedUser
  /** The user who takes the place. */
  newUser: UserInput
}

export interface AnnotationCount {
  /** Annotations that the user may see. */
  total: number
  /** Those of them with a comment that the user has not seen. */
  unread: number
}

export interface TargetElement {
  /** Id of the DOM element that the annotation is attached to. At most 1,000 characters. */
  elementId?: string
  /** The text that the annotation is about. At most 4,000 characters. */
  targetText?: string
  /** Which occurrence of the text, from 1. From 1 to 1,000,000. */
  occurrence?: number
  /** Whether the annotation is about the whole element. */
  selectAllContent?: boolean
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface CommentData {
  /** Id of the comment. Default: a new number. At least 0. */
  commentId?: number
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
  /** The author. Required for backends. With a user token, the author is the user of the token. */
  from?: UserInput
  /** When the comment was written, in Unix milliseconds. Default: now. From 0 to 8,640,000,000,000,000. */
  createdAt?: number
  /** When it was last changed, in Unix milliseconds. Default: now. From 0 to 8,640,000,000,000,000. */
  lastUpdated?: number
  /** True: users are notified as if a client had written the comment. Default: false. Ignored under v1. */
  triggerNotification?: boolean
  /** True: the comment is recorded as an activity. Default: false. Ignored under v1. */
  triggerActivities?: boolean
}

export interface Status {
  /** Id of the status, such as `OPEN`, `IN_PROGRESS` or `RESOLVED`. */
  id: string
  /** Name that users see. At most 1,000 characters. */
  name: string
  /** `default`: open. `ongoing`: in progress. `terminal`: resolved. */
  type: 'default' | 'ongoing' | 'terminal'
  /** CSS color of the status. At most 1,000 characters. */
  color?: string
  /** CSS color of the background. At most 1,000 characters. */
  lightColor?: string
  /** Icon as SVG. Stored as sent. At most 8,000 characters. */
  svg?: string
  /** URL of the icon. At most 2,000 characters. */
  iconUrl?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Priority {
  /** Id of the priority, such as `P0`. */
  id: string
  /** Name that users see. At most 1,000 characters. */
  name: string
  /** CSS color of the priority. At most 1,000 characters. */
  color?: string
  /** CSS color of the background. At most 1,000 characters. */
  lightColor?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface CommentContext {
  /** Access context: only users who hold every `key:value` of it see the annotation. */
  access?: Record<string, string | number>
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Suggestion {
  /** Id of what the suggestion changes. At most 1,000 characters. */
  targetId?: string
  /** Kind of what the suggestion changes. At most 1,000 characters. */
  targetType?: string
  /** The suggestion in words. At most 4,000 characters. */
  summary?: string
  /** Whether the target changed after the suggestion was made. */
  driftDetected?: boolean
  /** Whether the suggestion was accepted or rejected. */
  status?: 'pending' | 'accepted' | 'rejected'
  /** Why it was rejected. At most 4,000 characters. */
  rejectReason?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Visibility {
  /**
   * `public`: everyone who can read the document. `organizationPrivate`: members of `organizationId`.
   * `restricted`: the users in `userIds` and the author.
   */
  type: 'public' | 'organizationPrivate' | 'restricted'
  /** The organization whose members see the annotation. Default: that of the call. */
  organizationId?: string
  /** The users who see the annotation. At most 200 items. */
  userIds?: string[]
}

export interface EditorRange {
  /** Id of the editor inside the document. */
  editorId: string
  /**
   * Name of the root that has the range. Default: the root of the content. At most 256 characters. Must not
   * contain control characters.
   */
  contentKey?: string
  /** Where the selection began. A Yjs relative position, or an offset in the text. At least 0. */
  anchor: number | YjsPosition
  /**
   * Where the selection ended. It may be before `anchor`. A Yjs relative position, or an offset in the text.
   * At least 0.
   */
  head: number | YjsPosition
  /** The text of the range. Default: the text that the range has now. At most 1,000 characters. */
  quote?: string
}

export interface PageInfo {
  /** Address of the page. At most 2,000 characters. Must be a URL beginning with http:// or https://. */
  url?: string
  /**
   * Address that opens the annotation. Emails link to it; without it, to `url`. At most 2,000 characters.
   * Must be a URL beginning with http:// or https://.
   */
  commentUrl?: string
  /** Title of the page, as emails show it. At most 1,000 characters. */
  title?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Comment {
  /** Id of the comment inside the annotation. At least 0. */
  commentId: number
  /** Kind of the comment. */
  type: 'text' | 'voice'
  /** The comment as plain text. */
  commentText?: string
  /** The comment as HTML, safe to show. */
  commentHtml?: string
  /** The author. */
  from: User
  /** The mentioned users. */
  to: User[]
  /** The mentions as they were sent. */
  taggedUserContacts: TaggedUser[]
  /** Whether the comment was changed after it was added. */
  status: 'added' | 'updated'
  /** Descriptions of files. */
  attachments: Attachment[]
  /** Ids of the reactions. */
  reactionAnnotationIds: string[]
  /** The reactions. */
  reactionAnnotations: Reaction[]
  /** Unix time in milliseconds; under v1 in ISO 8601. */
  createdAt: number | string
  /** Time of the last change, in ISO 8601. */
  lastUpdated: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface LocatedRange {
  /** Id of the editor. */
  editorId: string
  /** Name of the root that has the range. */
  contentKey: string
  /** Where the selection began. */
  anchor: YjsPosition
  /** Where the selection ended. */
  head: YjsPosition
  /** The text that the range had when it was set. */
  quote: string
  /** False: the editor could not be read in time. The fields below are missing. Try again later. */
  resolved: boolean
  /** True: the text of the range does not exist any more. */
  orphaned?: boolean
  /** Offset of the start in the shared type that has it. Missing if it has no place. */
  start?: number
  /** Offset of the end in the shared type that has it. Missing if it has no place. */
  end?: number
  /** The text of the range now, cut to 1000 characters. */
  text?: string
}

export interface VisibilityConfig {
  /**
   * `public`: everyone who can read the document. `organizationPrivate`: members of `organizationId`.
   * `restricted`: the users in `userIds` and the author.
   */
  type: 'public' | 'organizationPrivate' | 'restricted'
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface StatusChange {
  /** Id of the status, such as `OPEN`, `IN_PROGRESS` or `RESOLVED`. */
  id?: string
  /** Name that users see. At most 1,000 characters. */
  name?: string
  /** `default`: open. `ongoing`: in progress. `terminal`: resolved. */
  type: 'default' | 'ongoing' | 'terminal'
  /** CSS color of the status. At most 1,000 characters. */
  color?: string
  /** CSS color of the background. At most 1,000 characters. */
  lightColor?: string
  /** Icon as SVG. Stored as sent. At most 8,000 characters. */
  svg?: string
  /** URL of the icon. At most 2,000 characters. */
  iconUrl?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface NamedUser {
  /** Id of the user. */
  userId: string
}

export interface YjsPosition {
  /** Id of the character or node that the position is attached to. */
  item?: YjsId | null
  /** Id of the shared type that has the position, if it is not a root. */
  type?: YjsId | null
  /** Name of the root that has the position. At most 256 characters. */
  tname?: string | null
  /** The side that the position is attached to: the left one if negative. At least -9,007,199,254,740,991. */
  assoc?: number | null
}

export interface YjsId {
  /** The Yjs client id. At least 0. */
  client: number
  /** The clock. At least 0. */
  clock: number
}

export interface CommentAnnotationsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Whether to create the organization if it does not exist. Default: false. Ignored under v1. */
  createOrganization?: boolean
  /** Whether to create the document if it does not exist. Default: false. Ignored under v1. */
  createDocument?: boolean
  /**
   * True: comments of authors who may not write in the document are refused. Default: false. Ignored under
   * v1.
   */
  verifyUserPermissions?: boolean
  /** The annotations to add. From 1 to 500 items. */
  commentAnnotations: CommentAnnotationInput[]
}

export interface CommentAnnotationsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Only annotations of this document. Required under v1. */
  documentId?: string
  /**
   * Only annotations of these documents. With `documentId`, of the document that is both. At most 30 items.
   * Ignored under v1.
   */
  documentIds?: string[]
  /** Only annotations of the documents directly in this folder. Ignored under v1. */
  folderId?: string
  /**
   * Only annotations at these locations: their ids, or the numbers that annotations carry for them. At most
   * 30 items. Each: at least 0.
   */
  locationIds?: (string | number)[]
  /** Only annotations with these ids. At most 30 items. */
  annotationIds?: string[]
  /** Only annotations of these authors. At most 30 items. */
  userIds?: string[]
  /** Only annotations that mention one of these users. At most 30 items. Ignored under v1. */
  mentionedUserIds?: string[]
  /** Only annotations that this user resolved. Ignored under v1. */
  resolvedBy?: string
  /** Only annotations with one of these statuses. At most 30 items. Ignored under v1. */
  statusIds?: string[]
  /** The same as `statusIds` with one id. Ignored under v1. */
  statusId?: string
  /**
   * Only annotations changed after this time. Unix milliseconds. From 0 to 8,640,000,000,000,000. Ignored
   * under v1.
   */
  updatedAfter?: number
  /**
   * Only annotations changed before this time. Unix milliseconds. From 0 to 8,640,000,000,000,000. Ignored
   * under v1.
   */
  updatedBefore?: number
  /**
   * Only annotations added after this time. Unix milliseconds. From 0 to 8,640,000,000,000,000. Ignored under
   * v1.
   */
  createdAfter?: number
  /**
   * Only annotations added before this time. Unix milliseconds. From 0 to 8,640,000,000,000,000. Ignored
   * under v1.
   */
  createdBefore?: number
  /** True: the answer has a list of annotations for each document. Ignored under v1. */
  groupByDocumentId?: boolean
  /** Order by `lastUpdated`. Default: `desc`, newest first. Ignored under v1. */
  order?: 'asc' | 'desc'
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface CommentAnnotationsUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Only annotations at these locations: their ids, or the numbers that annotations carry for them. At most
   * 30 items. Each: at least 0.
   */
  locationIds?: (string | number)[]
  /** Only annotations of these authors. At most 30 items. */
  userIds?: string[]
  /** Only annotations with these ids. Default: all annotations of the document. From 1 to 500 items. */
  annotationIds?: string[]
  /** The change, or a list with one change. Required unless `updateUsers` is sent. From 1 to 1 items. */
  updatedData?: CommentAnnotationChange | CommentAnnotationChange[]
  /** Users to replace everywhere in the annotations, also in mentions. From 1 to 30 items. */
  updateUsers?: UserReplacement[]
  /** True: users are notified as if a client had made the change. Default: false. Ignored under v1. */
  triggerNotification?: boolean
}

export interface CommentAnnotationsDeleteInput {
  /** Id of the organization. Required if several organizations have the document. */
  organizationId?: string
  /** Id of the document. */
  documentId: string
  /**
   * Only annotations at these locations: their ids, or the numbers that annotations carry for them. At most
   * 30 items. Each: at least 0.
   */
  locationIds?: (string | number)[]
  /** Only annotations of these authors. At most 30 items. */
  userIds?: string[]
  /** Only annotations with these ids. Default: all annotations of the document. From 1 to 500 items. */
  annotationIds?: string[]
}

export interface CommentAnnotationsCountInput {
  /** Id of the organization. */
  organizationId: string
  /** The documents. From 1 to 30 items. */
  documentIds: string[]
  /** Id of the user. */
  userId: string
  /** Only annotations with one of these statuses. At most 30 items. */
  statusIds?: string[]
}

export interface CommentAnnotationsMarkViewedInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** The annotations that the user has seen. From 1 to 500 items. */
  annotationIds: string[]
  /** The user who acts. Required for backends. With a user token, it is the user of the token. */
  userId?: string
}

export interface CommentAnnotationsSubscribeInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /**
   * Id of the annotation. At most 256 characters. Must not contain ":" or control characters and must not be
   * "." or "..".
   */
  annotationId: string
  /** The user who acts. Required for backends. With a user token, it is the user of the token. */
  userId?: string
  /** False: the user is not notified any more. Default: true. */
  subscribed?: boolean
}

/** Threads of comments in a document: where they are, who sees them, their status and assignment. */
export interface CommentAnnotationsOperations {
  /**
   * Adds annotations, which are threads of comments, to a document. An author who has no profile gets one.
   * Users in `taggedUserContacts`, `assignedTo` and `visibility` must exist. Users can make annotations
   * private only if the option `enablePrivateComments` of the API key is on; backends always can. With
   * `verifyUserPermissions`, annotations of authors who may not write are refused; the others are added. An
   * annotation can be about a range of an editor, which moves with its text: `targetEditor`.
   *
   * @returns The result for each annotation, by its id.
   *
   * `POST /v2/commentannotations/add`
   */
  add(input: CommentAnnotationsAddInput, options?: CallOptions): Promise<Result<Record<string, AddedAnnotation>>>
  /**
   * Reads annotations with their comments. v1 requires `documentId`, has no pages and returns times in ISO
   * 8601. With `annotationIds`, the answer has `null` in the place of each annotation that does not exist.
   * Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/commentannotations/get`
   */
  get(input: CommentAnnotationsGetInput & { groupByDocumentId?: false }, options?: CallOptions): Promise<Result<(CommentAnnotation | null)[]>>
  /**
   * Reads annotations with their comments. v1 requires `documentId`, has no pages and returns times in ISO
   * 8601. With `annotationIds`, the answer has `null` in the place of each annotation that does not exist.
   * Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/commentannotations/get`
   */
  get(input: CommentAnnotationsGetInput & { groupByDocumentId: true }, options?: CallOptions): Promise<Result<Record<string, CommentAnnotation[]>>>
  /**
   * Reads annotations with their comments. v1 requires `documentId`, has no pages and returns times in ISO
   * 8601. With `annotationIds`, the answer has `null` in the place of each annotation that does not exist.
   * Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/commentannotations/get`
   */
  get(input: CommentAnnotationsGetInput, options?: CallOptions): Promise<Result<(CommentAnnotation | null)[] | Record<string, CommentAnnotation[]>>>
  /**
   * Changes annotations of a document. Without selectors, all annotations of the document are changed, up to
   * 500. A status of another type than `terminal` removes who resolved the annotation. A range in
   * `targetEditor` is set for each of them.
   *
   * `POST /v2/commentannotations/update`
   */
  update(input: CommentAnnotationsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes annotations with their comments, reactions and notifications. Without selectors, all annotations
   * of the document are deleted. Without `organizationId`, the document is found by its id, if only one
   * organization has it.
   *
   * `POST /v2/commentannotations/delete`
   */
  delete(input: CommentAnnotationsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Counts the annotations of documents that a user may see, and those with unread comments. Requires the
   * option `useAdvancedQueries` of the API key, which is on by default.
   *
   * @returns The counts by document.
   *
   * `POST /v2/commentannotations/count/get`
   */
  count(input: CommentAnnotationsCountInput, options?: CallOptions): Promise<Result<Record<string, AnnotationCount>>>
  /**
   * Records that a user has seen the comments of annotations, so they are no longer unread.
   *
   * `POST /v2/commentannotations/viewed`
   */
  markViewed(input: CommentAnnotationsMarkViewedInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Subscribes a user to the changes of an annotation, or ends the subscription. Authors, mentioned users and
   * assignees are subscribed without a call.
   *
   * `POST /v2/commentannotations/subscribe`
   */
  subscribe(input: CommentAnnotationsSubscribeInput, options?: CallOptions): Promise<Result<null>>
}
