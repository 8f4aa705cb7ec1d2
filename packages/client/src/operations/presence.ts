// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { PresenceStatus } from './user-data.ts'

export interface PresenceUser {
  /** Id of the user. */
  userId: string
  /** Display name of the user. At most 1,000 characters. */
  name?: string
  /** Email address of the user. At most 320 characters. */
  email?: string
  /** URL of a picture. Default: that of the profile. At most 2,000 characters. */
  photoUrl?: string
  /** CSS color. Default: that of the profile. At most 50 characters. */
  color?: string
  /** The status that other users see. Default for a new entry: `online`. */
  status?: PresenceStatus
  /** Data that other users see, such as a cursor. At most 2 KiB as JSON. `null` removes it. */
  data?: Record<string, unknown> | null
}

export interface PresenceOutcome {
  /** Always `true`: a failure is answered as an error. */
  success: boolean
  /**
   * The sent fields of users that presence does not have, such as `users[0].colour`: the first 20. Absent if
   * there are none.
   */
  ignoredFields?: string[]
}

export interface Success {
  /** Always `true`: a failure is answered as an error. */
  success: boolean
}

export interface PresenceAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** The users to add. From 1 to 500 items. */
  users: PresenceUser[]
}

export interface PresenceUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** The users to change, with the fields to change. From 1 to 500 items. */
  users: PresenceUser[]
}

export interface PresenceDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Ids of the users to remove. From 1 to 500 items. */
  userIds: string[]
}

/** The users who are in a document right now. */
export interface PresenceOperations {
  /**
   * Shows users as present in a document. A user who is already present is overwritten. Users stay until they
   * are deleted, or for 24 hours without an update. A backend can add at most 1,000 users to a document. The
   * organization and the document are created if they do not exist. Other fields than those below are
   * ignored, and the answer names them.
   *
   * `POST /v2/presence/add`
   */
  add(input: PresenceAddInput, options?: CallOptions): Promise<Result<PresenceOutcome>>
  /**
   * Changes users who are present in a document. Only the sent fields change. A user who is sent without
   * further fields stays present for another 24 hours. Users who are not present are ignored. The answer
   * names ignored fields.
   *
   * `POST /v2/presence/update`
   */
  update(input: PresenceUpdateInput, options?: CallOptions): Promise<Result<PresenceOutcome>>
  /**
   * Removes users from the presence list of a document. Users who are not present are ignored.
   *
   * `POST /v2/presence/delete`
   */
  delete(input: PresenceDeleteInput, options?: CallOptions): Promise<Result<Success>>
}
