// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { HeadlineData, NotificationUser, NotificationSource, NotificationRecord, NotificationPreferences } from './user-data.ts'
import type { Outcome } from './organizations.ts'
import type { AccessRole } from './auth.ts'

export interface UserInput {
  /** Id of the user. */
  userId: string
  /** Display name of the user. At most 1,000 characters. */
  name?: string | null
  /** Email address of the user. At most 320 characters. */
  email?: string | null
  /** URL of a picture of the user. At most 2,000 characters. */
  photoUrl?: string | null
  /** Letters to show instead of a picture. Default: the first letter of the name. At most 10 characters. */
  initial?: string | null
  /** CSS color of the user. Default: derived from the user id. At most 50 characters. */
  color?: string | null
  /** CSS color of text on `color`. At most 50 characters. */
  textColor?: string | null
  /** Whether the user only reads. Stored with the profile: it is not a permission. */
  isReadOnly?: boolean | null
  /** Whether the user is anonymous. Stored with the profile. */
  isAnonymous?: boolean | null
  /** Whether the user is a guest. Stored with the profile. */
  isGuest?: boolean | null
  /** Plan of the user in your application. Stored with the profile. At most 1,000 characters. */
  plan?: string | null
  /** Group id in your application. Stored with the profile. Deprecated. At most 1,000 characters. */
  groupId?: string | null
  /** Group id in your application. Stored with the profile. Deprecated. At most 1,000 characters. */
  clientGroupId?: string | null
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole?: AccessRole
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface NotificationContext {
  /** Access context: only users who hold every `key:value` of it read the notification. */
  access?: Record<string, string | number>
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface NewNotification {
  /** Always `true`: a failure is answered as an error. */
  success: boolean
  /** Id of the notification. */
  id: string
  /** The message of the answer. */
  message: string
}

export interface NotificationChange {
  /** Id of the notification. */
  id: string
  /** The user who caused the notification. */
  actionUser?: NotificationUser
  /** Headline of the notification, with placeholders such as `{actionUser}`. At most 100,000 characters. */
  displayHeadlineMessageTemplate?: string
  /** Text of the notification. At most 100,000 characters. */
  displayBodyMessage?: string
  /** Values for the placeholders of the headline. */
  displayHeadlineMessageTemplateData?: HeadlineData
  /** Data of your application. Stored as sent. */
  notificationSourceData?: Record<string, unknown>
  /** Ids of the users for whom to mark the notification as read. At most 500 items. */
  readByUserIds?: string[]
  /** True: the notification stays in the personal list of the users who have read it. Default: false. */
  persistReadForUsers?: boolean
}

export interface NotificationConfig {
  /** The preferences of the user, by channel. */
  config: NotificationPreferences
  /** The user and the document that the preferences apply to. */
  metadata: NotificationConfigMetadata
}

export interface NotificationConfigOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Id of the user. */
  userId: string
  /** Id of the first document that was sent. */
  documentId?: string
  /** Ids of all documents. Present if several were sent. */
  documentIds?: string[]
  /** What happened to this item. */
  message: string
}

export interface NotificationConfigMetadata {
  /** Id of the organization. */
  organizationId: string
  /** Id of the API key. */
  apiKey: string
  /** Id of the document. Empty for the default of the organization. */
  documentId?: string
  /** Id of the user. */
  userId: string
}

export interface NotificationsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Whether to create the organization if it does not exist. Default: false. */
  createOrganization?: boolean
  /** Whether to create the document if it does not exist. Default: false. */
  createDocument?: boolean
  /** The user who caused the notification. */
  actionUser: UserInput
  /**
   * Headline of the notification, with placeholders such as `{actionUser}`. Required unless
   * `isNotificationResolverUsed` is true. At most 100,000 characters.
   */
  displayHeadlineMessageTemplate?: string
  /**
   * Text of the notification. Required unless `isNotificationResolverUsed` is true. At most 100,000
   * characters.
   */
  displayBodyMessage?: string
  /** Values for the placeholders of the headline. */
  displayHeadlineMessageTemplateData?: HeadlineData
  /** Data of your application. Stored as sent. */
  notificationSourceData?: Record<string, unknown>
  /** Users who get the notification in their personal list, by id or email address. At most 500 items. */
  notifyUsers: NotificationUser[]
  /** Whether all users of the organization are notified. Default: true. */
  notifyAll?: boolean
  /**
   * Id of the notification. An existing notification is overwritten. Default: a new id. At most 256
   * characters. May contain only letters, digits, "_" and "-".
   */
  notificationId?: string
  /** The feature that the notification comes from. Default: `custom`. Ignored under v1. */
  notificationSource?: NotificationSource
  /** True: only users who can read the document are notified. Default: false. Ignored under v1. */
  verifyUserPermissions?: boolean
  /** True: your application provides the texts, so headline and body may be absent. Ignored under v1. */
  isNotificationResolverUsed?: boolean
  /** Data for your notification resolver. Stored as sent. Ignored under v1. */
  context?: NotificationContext
  /** Id of the location inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /**
   * Location inside the document, in the form of your application. It needs an `id` or a `locationName`,
   * unless `locationId` is sent.
   */
  location?: Record<string, unknown>
}

export interface NotificationsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Only notifications of this document. */
  documentId?: string
  /**
   * Only notifications of this location: its id, or the number that notifications carry for it. At least 0.
   */
  locationId?: string | number
  /** Only notifications for this user. */
  userId?: string
  /** Only notifications with these ids. At most 30 items. */
  notificationIds?: string[]
  /** Order by time. Default: `desc`, newest first. Ignored under v1. */
  order?: 'asc' | 'desc'
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface NotificationsUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Only notifications of this document. */
  documentId?: string
  /**
   * Only notifications of this location: its id, or the number that notifications carry for it. At least 0.
   */
  locationId?: string | number
  /** Only notifications for this user. */
  userId?: string
  /** True: recipients who cannot read the document are removed. Default: false. Ignored under v1. */
  verifyUserPermissions?: boolean
  /** One change, or a list of changes. From 1 to 500 items. */
  notifications: NotificationChange | NotificationChange[]
}

export interface NotificationsDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Only notifications of this document. */
  documentId?: string
  /**
   * Only notifications of this location: its id, or the number that notifications carry for it. At least 0.
   */
  locationId?: string | number
  /** Only notifications for this user. */
  userId?: string
  /** Only notifications with these ids. From 1 to 500 items. */
  notificationIds?: string[]
}

export interface NotificationsGetConfigInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user. */
  userId: string
  /** Ids of the documents. Required unless `getOrganizationConfig` is true. At most 30 items. */
  documentIds?: string[]
  /** True: reads the default of the organization instead of the documents. Ignored under v1. */
  getOrganizationConfig?: boolean
}

export interface NotificationsSetConfigInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the users. From 1 to 500 items. */
  userIds: string[]
  /**
   * Ids of the documents. Without them, v2 sets the default of the organization, for documents without their
   * own preferences. From 1 to 30 items.
   */
  documentIds?: string[]
  /** The preferences to set, by channel. At most 20 channels. */
  config: NotificationPreferences
}

/** The inbox of users, and which notifications each user receives. */
export interface NotificationsOperations {
  /**
   * Notifies users about an event in a document. The users in `notifyUsers` get the notification in their
   * personal list. All users of the organization are notified too, unless `notifyAll` is `false`. Users whose
   * inbox preference is `NONE` are skipped. A notification with the same `notificationId` is overwritten.
   * Requires the option `useNotificationService` of the API key, which is on by default.
   *
   * `POST /v2/notifications/add`
   */
  add(input: NotificationsAddInput, options?: CallOptions): Promise<Result<NewNotification>>
  /**
   * Reads the notifications of a document or of a user. With `userId`, the answer has only notifications for
   * that user, with `isUnread` and `forYou`. v2 requires `documentId` or `userId`. v1 requires no filter, has
   * no pages and returns up to 10,000 notifications. With a user token, the answer is the inbox of that user.
   * Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/notifications/get`
   */
  get(input: NotificationsGetInput, options?: CallOptions): Promise<Result<NotificationRecord[]>>
  /**
   * Changes notifications and marks them as read. A sent field replaces the stored one. `readByUserIds` marks
   * the notification as read for these users and removes it from their personal lists, unless
   * `persistReadForUsers` is `true`. A notification that does not match every filter is not found. With a
   * user token, a user can only mark own notifications as read.
   *
   * `POST /v2/notifications/update`
   */
  update(input: NotificationsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes the notifications that match every filter. With `userId`, the notifications are removed only for
   * that user, and deleted when no recipient is left. The answer has one outcome per sent id, or, without
   * ids, one per notification that was found.
   *
   * `POST /v2/notifications/delete`
   */
  delete(input: NotificationsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads the notification preferences of a user. The answer has one entry per document: the preferences for
   * the document, else the default of the organization, else `ALL`. With `getOrganizationConfig`, it has only
   * the entry of the organization. Requires the option `useNotificationService` of the API key, which is on
   * by default.
   *
   * `POST /v2/notifications/config/get`
   */
  getConfig(input: NotificationsGetConfigInput, options?: CallOptions): Promise<Result<NotificationConfig[]>>
  /**
   * Sets the notification preferences of users. `ALL`: the user gets all notifications of the document.
   * `MINE`: only those that involve the user. `NONE`: none. Under v2, without `documentIds`, the preferences
   * are the default for every document of the organization. Channels that are not sent keep their value.
   * Requires the option `useNotificationService` of the API key, which is on by default.
   *
   * `POST /v2/notifications/config/set`
   */
  setConfig(input: NotificationsSetConfigInput, options?: CallOptions): Promise<Result<Record<string, NotificationConfigOutcome>>>
}
