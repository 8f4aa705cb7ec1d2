// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Outcome } from './organizations.ts'

export interface UserInput {
  /** Id of the user. */
  userId: string
  /** Name of the user, for people. At most 1,000 characters. */
  name?: string | null
  /** Email address of the user. At most 320 characters. */
  email?: string | null
  /** Address of a picture of the user. At most 2,000 characters. */
  photoUrl?: string | null
  /** Letters in place of a picture. Default: the first letter of the name. At most 10 characters. */
  initial?: string | null
  /** CSS color of the user. Default: derived from the user id. At most 50 characters. */
  color?: string | null
  /** CSS color of text on `color`. At most 50 characters. */
  textColor?: string | null
  /** Whether the user only reads. Stored with the profile; it is not a permission. */
  isReadOnly?: boolean | null
  /** Whether the user is not known by name. Stored with the profile. */
  isAnonymous?: boolean | null
  /** Whether the user is a guest. Stored with the profile. */
  isGuest?: boolean | null
  /** Plan of the user. Stored with the profile. At most 1,000 characters. */
  plan?: string | null
  /** Id of the group. At most 1,000 characters. */
  groupId?: string | null
  /** A group id of your own. Stored with the profile. At most 1,000 characters. */
  clientGroupId?: string | null
  /** What the user may do there: `viewer` reads, `editor` reads and writes. */
  accessRole?: 'viewer' | 'editor'
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface HeadlineData {
  /** The user who caused the notification. */
  actionUser?: NotificationUser
  /** The user to whom the notification is addressed, or the name to show. At most 100,000 characters. */
  recipientUser?: string | NotificationUser
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface NotificationUser {
  /** Id of the user. */
  userId?: string
  /** Name of the user, for people. At most 1,000 characters. */
  name?: string
  /** Email address of the user. At most 320 characters. */
  email?: string
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface NotificationRecord {
  /** Id of the notification. */
  id: string
  /** The part of the application that it comes from. Default: `custom`. */
  notificationSource: 'custom' | 'comment' | 'huddle' | 'crdt'
  /** The user who caused the notification. */
  actionUser: NotificationUser
  /**
   * Headline of the notification, with placeholders. Required unless `isNotificationResolverUsed` is true. At
   * most 100,000 characters.
   */
  displayHeadlineMessageTemplate?: string
  /**
   * Text of the notification. Required unless `isNotificationResolverUsed` is true. At most 100,000
   * characters.
   */
  displayBodyMessage?: string
  /** What fills the placeholders of the headline. */
  displayHeadlineMessageTemplateData?: HeadlineData
  /** Data of your own. Stored as it is sent. */
  notificationSourceData?: Record<string, unknown>
  /** True: your application builds the texts, so headline and body may be absent. */
  isNotificationResolverUsed?: boolean
  /** Data that your notification resolver needs. Stored as it is sent. */
  context?: Record<string, unknown>
  /** Hashes of the email addresses of the named users. */
  notifyUsers: Record<string, boolean>
  /** Hashes of the ids of the named users. */
  notifyUsersByUserId: Record<string, boolean>
  /** Where the notification belongs. */
  metadata: {
    /** Id of the API key. */
    apiKey: string
    /** Id of the organization. */
    organizationId: string
    /** Id of the document. */
    documentId: string
    /** Id of a place inside the document, or the number that notifications carry for it. At least 0. */
    locationId?: string | number
    /** Place inside the document, in your own form. */
    location?: Record<string, unknown>
    /** The document with its metadata. */
    documentMetadata: Record<string, unknown>
    /** The organization with its metadata. */
    organizationMetadata: Record<string, unknown>
  }
  /** When it was added, in milliseconds since 1970. */
  timestamp: number
  /** Whether the user has not read the notification. Present when it is read for a user. */
  isUnread?: boolean
  /** Whether the notification names this user. Present when it is read for a user. */
  forYou?: boolean
}

export interface NotificationConfig {
  /** How much reaches the user on each channel. */
  config: NotificationPreferences
  /** What the setting belongs to. */
  metadata: {
    /** Id of the organization. */
    organizationId: string
    /** Id of the API key. */
    apiKey: string
    /** Id of the document. Empty for the organization’s own setting. */
    documentId?: string
    /** Id of the user. */
    userId: string
  }
}

export type NotificationPreferences = {
  /** In the inbox: everything, what involves the user, or nothing. */
  inbox?: 'ALL' | 'MINE' | 'NONE'
  /** By email: everything, what involves the user, or nothing. */
  email?: 'ALL' | 'MINE' | 'NONE'
  /** In Slack: everything, what involves the user, or nothing. */
  slack?: 'ALL' | 'MINE' | 'NONE'
} & Record<string, 'ALL' | 'MINE' | 'NONE'>

export interface NotificationsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Whether to create an organization that does not exist. */
  createOrganization?: boolean
  /** Whether to create a document that does not exist. */
  createDocument?: boolean
  /** The user who caused the notification. */
  actionUser: UserInput
  /**
   * Headline of the notification, with placeholders. Required unless `isNotificationResolverUsed` is true. At
   * most 100,000 characters.
   */
  displayHeadlineMessageTemplate?: string
  /**
   * Text of the notification. Required unless `isNotificationResolverUsed` is true. At most 100,000
   * characters.
   */
  displayBodyMessage?: string
  /** What fills the placeholders of the headline. */
  displayHeadlineMessageTemplateData?: HeadlineData
  /** Data of your own. Stored as it is sent. */
  notificationSourceData?: Record<string, unknown>
  /**
   * Users who also find the notification in their personal list, by id or email address. At most 500 items.
   */
  notifyUsers: NotificationUser[]
  /** Whether all users of the organization are notified. Default: true. */
  notifyAll?: boolean
  /**
   * Id of the notification. One that exists is overwritten. Default: a new id. At most 256 characters. May
   * contain only letters, digits, "_" and "-".
   */
  notificationId?: string
  /** The part of the application that it comes from. Default: `custom`. Ignored under v1. */
  notificationSource?: 'custom' | 'comment' | 'huddle' | 'crdt'
  /** True: only users who may read the document are notified. Ignored under v1. */
  verifyUserPermissions?: boolean
  /** True: your application builds the texts, so headline and body may be absent. Ignored under v1. */
  isNotificationResolverUsed?: boolean
  /** Data that your notification resolver needs. Stored as it is sent. Ignored under v1. */
  context?: {
    /** Names and values that decide who sees the notification. Stored as they are sent. */
    access?: Record<string, string | number>
    /** Other keys are kept as they are sent. */
    [key: string]: unknown
  }
  /** Id of a place inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /** Place inside the document, in your own form. */
  location?: Record<string, unknown>
}

export interface NotificationsAddOutput {
  /** Whether it was done. */
  success: boolean
  /** Id of the notification. */
  id: string
  /** What happened, for people. */
  message: string
}

export interface NotificationsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of a place inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /** Id of the user. */
  userId?: string
  /** Ids of the notifications. At most 30 items. */
  notificationIds?: string[]
  /** By time: `desc` is newest first, the default. Ignored under v1. */
  order?: 'asc' | 'desc'
  /** How many are read at most. 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * `nextPageToken` of the answer before, to read the next page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface NotificationsUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of a place inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /** Id of the user. */
  userId?: string
  /** True: only users who may read the document keep the notification. Ignored under v1. */
  verifyUserPermissions?: boolean
  /** One change, or a list of changes. 1 to 500 items. */
  notifications: {
    /** Id of the notification. */
    id: string
    /** The user who caused the notification. */
    actionUser?: NotificationUser
    /**
     * Headline of the notification, with placeholders. Required unless `isNotificationResolverUsed` is true.
     * At most 100,000 characters.
     */
    displayHeadlineMessageTemplate?: string
    /**
     * Text of the notification. Required unless `isNotificationResolverUsed` is true. At most 100,000
     * characters.
     */
    displayBodyMessage?: string
    /** What fills the placeholders of the headline. */
    displayHeadlineMessageTemplateData?: HeadlineData
    /** Data of your own. Stored as it is sent. */
    notificationSourceData?: Record<string, unknown>
    /** Marks the notification as read for these users. At most 500 items. */
    readByUserIds?: string[]
    /** True: the notification stays in the personal list of users who have read it. */
    persistReadForUsers?: boolean
  } | {
    /** Id of the notification. */
    id: string
    /** The user who caused the notification. */
    actionUser?: NotificationUser
    /**
     * Headline of the notification, with placeholders. Required unless `isNotificationResolverUsed` is true.
     * At most 100,000 characters.
     */
    displayHeadlineMessageTemplate?: string
    /**
     * Text of the notification. Required unless `isNotificationResolverUsed` is true. At most 100,000
     * characters.
     */
    displayBodyMessage?: string
    /** What fills the placeholders of the headline. */
    displayHeadlineMessageTemplateData?: HeadlineData
    /** Data of your own. Stored as it is sent. */
    notificationSourceData?: Record<string, unknown>
    /** Marks the notification as read for these users. At most 500 items. */
    readByUserIds?: string[]
    /** True: the notification stays in the personal list of users who have read it. */
    persistReadForUsers?: boolean
  }[]
}

export interface NotificationsDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of a place inside the document, or the number that notifications carry for it. At least 0. */
  locationId?: string | number
  /** Id of the user. */
  userId?: string
  /** Ids of the notifications. 1 to 500 items. */
  notificationIds?: string[]
}

export interface NotificationsGetConfigInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user. */
  userId: string
  /** Ids of the documents. At most 30 items. */
  documentIds?: string[]
  /** Reads the setting of the organization instead of those of documents. Ignored under v1. */
  getOrganizationConfig?: boolean
}

export interface NotificationsSetConfigInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the users. 1 to 500 items. */
  userIds: string[]
  /** Ids of the documents. 1 to 30 items. */
  documentIds?: string[]
  /** How much reaches the users on each channel. */
  config: NotificationPreferences
}

/** What users find in their inbox, and what each of them wants to be told about. */
export interface NotificationsOperations {
  /**
   * Notifies users about something in a document. Unless `notifyAll` is `false` every user of the
   * organization is notified, besides those in `notifyUsers`, who also find it in their personal list. Users
   * who do not want inbox notifications are left out. A `notificationId` that exists is overwritten. Needs
   * the option `useNotificationService` of the API key, which is on unless switched off.
   *
   * `POST /v2/notifications/add`
   */
  add(input: NotificationsAddInput, options?: CallOptions): Promise<Result<NotificationsAddOutput>>
  /**
   * Reads the notifications of a document or of a user. With `userId` only what is addressed to that user,
   * with `isUnread` and `forYou`. The newest come first unless `order` is `asc`. Under v1 no filter is
   * required, and everything is returned at once, up to 10,000 notifications. Needs the option
   * `useAdvancedQueries` of the API key, which is on unless switched off.
   *
   * `POST /v2/notifications/get`
   */
  get(input: NotificationsGetInput, options?: CallOptions): Promise<Result<NotificationRecord[]>>
  /**
   * Changes notifications and marks them as read. A field that is sent replaces the stored one.
   * `readByUserIds` marks the notification as read for these users and takes it out of their personal list,
   * unless `persistReadForUsers` is `true`. A notification that does not meet every filter counts as not
   * found. With `verifyUserPermissions` recipients who may not read the document are dropped.
   *
   * `POST /v2/notifications/update`
   */
  update(input: NotificationsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes the notifications that meet every filter. With `userId` they are removed for that user only, and
   * deleted when nobody else is left. The answer has one outcome for each id that was sent, or for each
   * notification that was found when none was.
   *
   * `POST /v2/notifications/delete`
   */
  delete(input: NotificationsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads what a user wants to be notified about. One entry for each document: its own setting, else that of
   * the organization, else `ALL`. With `getOrganizationConfig` the one entry of the organization instead.
   * Needs the option `useNotificationService` of the API key, which is on unless switched off.
   *
   * `POST /v2/notifications/config/get`
   */
  getConfig(input: NotificationsGetConfigInput, options?: CallOptions): Promise<Result<NotificationConfig[]>>
  /**
   * Sets what users want to be notified about. `ALL` is everything on the document, `MINE` what involves the
   * user, `NONE` nothing. Without `documentIds`, under v2, the setting is the default for every document of
   * the organization. Channels that are not sent keep their value. Needs the option `useNotificationService`
   * of the API key, which is on unless switched off.
   *
   * `POST /v2/notifications/config/set`
   */
  setConfig(input: NotificationsSetConfigInput, options?: CallOptions): Promise<Result<Record<string, {
  /** Whether it was done. */
  success: boolean
  /** Id of the user. */
  userId: string
  /** Id of the document. */
  documentId?: string
  /** Ids of the documents. */
  documentIds?: string[]
  /** What happened, for people. */
  message: string
}>>>
}
