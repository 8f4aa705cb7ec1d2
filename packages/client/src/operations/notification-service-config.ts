// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'
import type { CommentTriggers, HuddleTriggers } from './api-keys.ts'

export interface NotificationServiceSettings {
  /** Whether notifications can be added and read. */
  useNotificationService: boolean
  /** Settings of the notification service. */
  notificationServiceConfig: NotificationServiceConfig
}

export interface NotificationServiceConfig {
  /** The events that the notification service acts on, by group and name. */
  triggers?: NotificationTriggers
  /** How long notifications wait. A user who has viewed the annotation by then is not notified. */
  delayConfig?: NotificationDelay
  /**
   * Which notifications are collected and delivered together, after the delay. A notification in two batches
   * is delivered with the one that ends first.
   */
  batchConfig?: NotificationBatches
}

export interface NotificationTriggers {
  /** Triggers for the events of comments, by name. */
  comment?: CommentTriggers
  /** Triggers for the events of huddles, by name. */
  huddle?: HuddleTriggers
}

export interface NotificationDelay {
  /** Whether notifications are delayed. Default: false. */
  isEnabled?: boolean
  /** How many seconds a notification is held back. Default: 10. From 10 to 15,552,000. */
  delaySeconds?: number
}

export interface NotificationBatches {
  /** Collects the notifications about one document. */
  document?: NotificationBatch
  /** Collects the notifications that one user causes. */
  user?: NotificationBatch
}

export interface NotificationBatch {
  /** Whether notifications are collected and sent together. Default: false. */
  isEnabled?: boolean
  /** How many seconds notifications are collected. Default: 10. From 10 to 604,800. */
  batchWindowSeconds?: number
  /** Once this many notifications are collected, they are sent. Default: 2. From 2 to 50. */
  maxActivities?: number
}

export type NotificationServiceConfigGetInput = NoInput

export interface NotificationServiceConfigUpdateInput {
  /** Whether notifications can be added and read. */
  useNotificationService?: boolean
  /** Settings of the notification service. */
  notificationServiceConfig?: NotificationServiceConfig
}

/** Which events notify users, and when the notifications are sent. */
export interface NotificationServiceConfigOperations {
  /**
   * Reads the settings of the notification service of the API key. The answer has the settings that apply,
   * defaults included. `useNotificationService` is the option of the API key with this name.
   *
   * `POST /v2/workspace/notificationconfig/get`
   */
  get(input?: NotificationServiceConfigGetInput, options?: CallOptions): Promise<Result<NotificationServiceSettings>>
  /**
   * Changes the settings of the notification service of the API key. Sent fields are merged into the stored
   * ones, at every level. Triggers that were never sent have their defaults. The answer has the stored
   * settings, without the defaults of those that were never set.
   *
   * `POST /v2/workspace/notificationconfig/update`
   */
  update(input?: NotificationServiceConfigUpdateInput, options?: CallOptions): Promise<Result<NotificationServiceSettings>>
}
