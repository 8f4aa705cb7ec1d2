// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { User } from './users.ts'
import type { AccessRole } from './auth.ts'

export interface UserData {
  /** The profile. Only on the first page, and only if there is one. */
  user?: User
  /** Where the user was added. */
  resources: ExportedResource[]
  /** Comments that the user wrote or is mentioned in. */
  comments: ExportedComment[]
  /** Reactions of the user. */
  reactions: ExportedReaction[]
  /** Always empty. */
  recordings: unknown[]
  /** Notifications that the user received. */
  notifications: NotificationRecord[]
  /** Activities of the user. */
  activities: ActivityRecord[]
  /** Groups that the user is in. */
  groups: ExportedGroup[]
  /** Notification preferences of the user. */
  preferences: ExportedPreferences[]
  /** How the user is involved in annotations: assignments and subscriptions too. */
  involvements: ExportedInvolvement[]
  /** Notifications that the user caused. */
  causedNotifications: NotificationRecord[]
  /** Entries in presence lists that a backend added for the user. */
  presence: ExportedPresence[]
  /** Versions of editors that the user saved. */
  versions: ExportedVersion[]
}

export interface ExportedResource {
  /** What the user was granted. */
  type: 'organization' | 'folder' | 'document' | 'context'
  /** Its id. For a field of the access context: `key:value`. */
  id: string
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole: AccessRole
}

export interface ExportedComment {
  /** Id of the document. */
  documentId: string
  /** Id of the annotation. */
  annotationId: string
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

export interface ExportedReaction {
  /** Id of the document. */
  documentId: string
  /** Id of the annotation. */
  annotationId: string
  /** Id of the comment inside the annotation. At least 0. */
  commentId: number
  /** The icon, such as `HEART_FACE`. */
  icon: string
  /** When the user reacted, as Unix time in milliseconds. */
  createdAt: number
}

export interface NotificationRecord {
  /** Id of the notification. */
  id: string
  /** The feature that the notification comes from. Default: `custom`. */
  notificationSource: NotificationSource
  /** What happened, such as `comment.added`. Present in notifications about events. */
  actionType?: string
  /** The user who caused the notification. */
  actionUser: NotificationUser
  /** Headline of the notification, with placeholders such as `{actionUser}`. At most 100,000 characters. */
  displayHeadlineMessageTemplate?: string
  /** Text of the notification. At most 100,000 characters. */
  displayBodyMessage?: string
  /** Values for the placeholders of the headline. */
  displayHeadlineMessageTemplateData?: HeadlineData
  /** Data of your application. Stored as sent. */
  notificationSourceData?: Record<string, unknown>
  /** True: your application provides the texts, so headline and body may be absent. */
  isNotificationResolverUsed?: boolean
  /** Id of the annotation that the notification is about. Present in notifications about comments. */
  targetAnnotationId?: string
  /** Data for your notification resolver. Stored as sent. */
  context?: Record<string, unknown>
  /** Hashes of the email addresses that Add Notifications got in `notifyUsers`. */
  notifyUsers: Record<string, boolean>
  /** Hashes of the user ids that Add Notifications got in `notifyUsers`. */
  notifyUsersByUserId: Record<string, boolean>
  /** The organization, document and location that the notification is about. */
  metadata: NotificationMetadata
  /** When the notification was added, as Unix time in milliseconds. */
  timestamp: number
  /** Whether the user has not read the notification. Present when `userId` was sent. */
  isUnread?: boolean
  /** Whether the notification is in the personal list of the user. Present when `userId` was sent. */
  forYou?: boolean
}

export interface ActivityRecord {
  /** Id of the activity. */
  id: string
  /** The feature that the activity belongs to. */
  featureType: FeatureType
  /** What happened, such as `comment.add`. */
  actionType: string
  /** The event that the server recorded as this activity. */
  eventType?: string
  /** The user who did it. */
  actionUser: ActivityUser
  /** Id of what the activity is about. */
  targetEntityId?: string
  /** Id of the part of it that the activity is about. */
  targetSubEntityId?: string
  /** The values that changed, by field. */
  changes?: Record<string, ActivityChange>
  /** The entity at that time, in the form of your application. */
  entityData?: unknown
  /** The target of the entity at that time, in the form of your application. */
  entityTargetData?: unknown
  /** Text of the activity, with placeholders such as `{{actionUser.name}}`. At most 100,000 characters. */
  displayMessageTemplate?: string
  /** Values for the placeholders of the text. */
  displayMessageTemplateData?: Record<string, unknown>
  /** URL or name of an icon. At most 2,000 characters. */
  actionIcon?: string
  /** True: your application provides the texts of the activity. */
  isActivityResolverUsed?: boolean
  /** When the activity was added, as Unix time in milliseconds. */
  timestamp: number
  /** Whether the activity can be neither changed nor deleted. */
  immutable: boolean
  /** Where the activity happened. */
  metadata: ActivityMetadata
}

export interface ExportedGroup {
  /** Id of the group. */
  groupId: string
  /** Display name of the group. */
  groupName: string
}

export interface ExportedPreferences {
  /** Id of the document. Empty for the default of the organization. */
  documentId: string
  /** The preferences that the user chose, by channel. */
  config: NotificationPreferences
}

export interface ExportedInvolvement {
  /** Id of the document. */
  documentId: string
  /** Id of the annotation. */
  annotationId: string
  /** How the user is involved. `subscribed` and `unsubscribed` are the own choice of the user. */
  involvement: 'commented' | 'mentioned' | 'assigned' | 'subscribed' | 'unsubscribed'
}

export interface ExportedPresence {
  /** Id of the document. */
  documentId: string
  /** The status that other users see. Default for a new entry: `online`. */
  status: PresenceStatus
  /** Display name that the backend sent. */
  name?: string
  /** Email address that the backend sent. */
  email?: string
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
}

export interface ExportedVersion {
  /** Id of the document. */
  documentId: string
  /** Id of the editor. */
  editorId: string
  /** Id of the version. */
  versionId: string
}

export interface TaggedUser {
  /** The text that stands for the user, such as `@Ada`. Required under v1. At most 1,000 characters. */
  text?: string
  /** Id of the mentioned user. */
  userId?: string
  /** The mentioned user, if `userId` is absent. */
  contact?: TaggedContact
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Attachment {
  /** Id of the attachment inside the comment. At least 0. */
  attachmentId: number
  /** Name of the file. At most 1,000 characters. */
  name?: string
  /** Where the file can be read. At most 4,000 characters. */
  url?: string
  /** Media type of the file. At most 1,000 characters. */
  mimeType?: string
  /** Size in bytes. At least 0. */
  size?: number
  /** Kind of the file, such as `image`, `video` or `document`. At most 1,000 characters. */
  type?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Reaction {
  /** Id of the reaction. */
  annotationId: string
  /** Always `reaction`. */
  type: 'reaction'
  /** The icon, such as `HEART_FACE`. */
  icon: string
  /** The users who reacted with this icon. */
  fromUsers: ReactionUser[]
  /** Id of the annotation. */
  commentAnnotationId: string
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
}

/** The feature that the notification comes from. Default: `custom`. */
export type NotificationSource = 'custom' | 'comment' | 'huddle' | 'crdt'

export interface NotificationUser {
  /** Id of the user. */
  userId?: string
  /** Display name of the user. At most 1,000 characters. */
  name?: string
  /** Email address of the user. At most 320 characters. */
  email?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface HeadlineData {
  /** The user who caused the notification. */
  actionUser?: NotificationUser
  /** The user who receives the notification, or the name to show. At most 100,000 characters. */
  recipientUser?: string | NotificationUser
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface NotificationMetadata {
  /** Id of the API key. */
  apiKey: string
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the location inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /**
   * Location inside the document, in the form of your application. It needs an `id` or a `locationName`,
   * unless `locationId` is sent.
   */
  location?: Record<string, unknown>
  /** The document with its metadata. */
  documentMetadata: Record<string, unknown>
  /** The organization with its metadata. */
  organizationMetadata: Record<string, unknown>
}

/** The feature that the activity belongs to. */
export type FeatureType = 'comment' | 'reaction' | 'recorder' | 'crdt' | 'custom'

export interface ActivityUser {
  /** Id of the user. */
  userId: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface ActivityChange {
  /** The value before. */
  from?: unknown
  /** The value after. */
  to?: unknown
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface ActivityMetadata {
  /** Id of the API key. */
  apiKey: string
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. It may be deleted. */
  documentId: string
  /** Id of the folder that the document is in now. Absent if it is in none. */
  folderId?: string
}

export type NotificationPreferences = {
  /** Notifications in the inbox: all, only those that involve the user, or none. */
  inbox?: Preference
  /** Notifications by email: all, only those that involve the user, or none. */
  email?: Preference
  /** Notifications in Slack: all, only those that involve the user, or none. */
  slack?: Preference
} & Record<string, Preference>

/** The status that other users see. Default for a new entry: `online`. */
export type PresenceStatus = 'online' | 'away' | 'offline'

export interface TaggedContact {
  /** Id of the mentioned user. */
  userId?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface ReactionUser {
  /** The user who reacted. */
  from: User
  /** When the user reacted, as Unix time in milliseconds. */
  lastUpdated: number
}

/** Which notifications the user receives on this channel: all, only those that involve the user, or none. */
export type Preference = 'ALL' | 'MINE' | 'NONE'

export interface UserDataGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user. */
  userId: string
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface UserDataDeleteInput {
  /** Ids of the users. From 1 to 500 items. */
  userIds: string[]
  /**
   * Erases only what is stored in these organizations. Default: in all organizations. From 1 to 500 items.
   */
  organizationIds?: string[]
}

export interface UserDataDeleteOutput {
  /** Id of the erasure, for `userData.deleteStatus`. */
  jobId: string
  /** The number of tasks: one for each user and organization. */
  tasksCount: number
}

export interface UserDataDeleteStatusInput {
  /** Id of the erasure, from `userData.delete`. */
  jobId: string
}

export interface UserDataDeleteStatusOutput {
  /** Whether everything is erased. */
  isDeleteCompleted: boolean
  /** The number of tasks that are not completed. */
  tasksLeft: number
  /** When the last task was completed, as Unix time in milliseconds. Null: none is completed. */
  lastTaskCompletedTime: number | null
}

/** Everything that is stored about a user: to export it, and to erase it. */
export interface UserDataOperations {
  /**
   * Exports what is stored about a user in an organization. A page has at most 100 items of each list. The
   * lists are read in the order in which they are declared: while one of them has more items, the lists
   * behind it are empty. A page can be empty and still have a `nextPageToken`. Read pages until there is
   * none, and join the lists.
   *
   * `POST /v2/users/data/get`
   */
  get(input: UserDataGetInput, options?: CallOptions): Promise<Result<UserData>>
  /**
   * Starts to erase everything that is stored about users. The erasure runs in the background;
   * `userData.deleteStatus` reads its progress. It removes access, profiles, comments, reactions,
   * notifications, activities, also immutable ones, preferences and presence of the users, and mentions of
   * them in comments of others, and objects with their ids or addresses in the context and the attachments of
   * these comments. Texts that others wrote stay, also if they contain a name. A comment thread stays if
   * others have commented in it. The content of editors and live states stays, but no longer says who wrote
   * it. The event log keeps that something was changed, without the content and the users. A profile is kept
   * if the erasure is limited to organizations and the user belongs to another one. Issue no more tokens for
   * the users: with a new token, a user can sign in again. In `public` documents, tokens that were issued
   * before work until they expire, after at most 48 hours, and open connections stay; what a user does there
   * is stored again.
   *
   * `POST /v2/users/data/delete`
   */
  delete(input: UserDataDeleteInput, options?: CallOptions): Promise<Result<UserDataDeleteOutput>>
  /**
   * Reads the progress of an erasure. A completed erasure can be read for at least 30 days.
   *
   * `POST /v2/users/data/delete/status`
   */
  deleteStatus(input: UserDataDeleteStatusInput, options?: CallOptions): Promise<Result<UserDataDeleteStatusOutput>>
}
