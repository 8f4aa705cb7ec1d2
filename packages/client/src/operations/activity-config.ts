// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'
import type { CommentTriggers } from './api-keys.ts'

export interface ActivityConfig {
  /** Settings of the activity log. */
  activityServiceConfig: ActivityServiceConfig
}

export interface ActivityServiceConfigInput {
  /** Whether activities are recorded. */
  isEnabled?: boolean
  /** Whether new activities are immutable: they can be neither changed nor deleted. */
  immutable?: boolean
  /** When the log was first enabled, as Unix time in milliseconds. At least 0. */
  enabledTime?: number
  /** The events that the server records as activities, by group and name. */
  triggers?: ActivityTriggers
}

export interface ActivityServiceConfig {
  /** Whether activities are recorded. */
  isEnabled: boolean
  /** Whether new activities are immutable: they can be neither changed nor deleted. */
  immutable?: boolean
  /** When the log was first enabled, as Unix time in milliseconds. At least 0. */
  enabledTime?: number
  /** The events that the server records as activities, by group and name. */
  triggers?: ActivityTriggers
}

export interface ActivityTriggers {
  /** Triggers for the events of comments, by name. */
  comment?: CommentTriggers
}

export type ActivityConfigGetInput = NoInput

export interface ActivityConfigUpdateInput {
  /** Settings of the activity log. */
  activityServiceConfig: ActivityServiceConfigInput
}

/** Whether and how an API key records activities. */
export interface ActivityConfigOperations {
  /**
   * Reads the settings of the activity log of the API key. The answer has the stored settings. `isEnabled` is
   * always present.
   *
   * `POST /v2/workspace/activityconfig/get`
   */
  get(input?: ActivityConfigGetInput, options?: CallOptions): Promise<Result<ActivityConfig>>
  /**
   * Changes the settings of the activity log of the API key. Sent fields are merged into the stored ones.
   * When the log is enabled, settings that were never sent get their defaults: all comment events are on, new
   * activities are immutable, and `enabledTime` is now.
   *
   * `POST /v2/workspace/activityconfig/update`
   */
  update(input: ActivityConfigUpdateInput, options?: CallOptions): Promise<Result<ActivityConfig>>
}
