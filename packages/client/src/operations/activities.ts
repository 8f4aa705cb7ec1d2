// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { FeatureType, ActivityRecord, ActivityChange } from './user-data.ts'
import type { Outcome } from './organizations.ts'
import type { UserInput } from './notifications.ts'

export interface ActivityInput {
  /** Id of the activity. An existing activity is overwritten. Default: a new id. */
  id?: string
  /** The feature that the activity belongs to. */
  featureType: FeatureType
  /** What happened, such as `comment.add`. */
  actionType: string
  /** The user who did it. */
  actionUser: UserInput
  /** Id of what the activity is about, such as a thread. Required for `custom`. */
  targetEntityId?: string
  /** Id of the part of it that the activity is about, such as a comment. */
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
}

export interface NewActivities {
  /** Always `true`: a failure is answered as an error. */
  success: boolean
  /** Ids of the activities, in the order of the request. */
  ids: string[]
  /** The message of the answer. */
  message: string
}

export interface ActivityUpdate {
  /** Id of the activity. */
  id: string
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
}

export interface ActivitiesAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** The activities to add. From 1 to 500 items. */
  activities: ActivityInput[]
}

export interface ActivitiesGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Only activities of this document. */
  documentId?: string
  /** Only activities about this entity. */
  targetEntityId?: string
  /** Only activities of this user. */
  userId?: string
  /** Only activities of these features. At most 30 items. */
  featureTypes?: FeatureType[]
  /** Only activities with these values of `actionType`. At most 30 items. */
  actionTypes?: string[]
  /** Only activities with these ids. At most 30 items. */
  activityIds?: string[]
  /** Order by time. Default: `desc`, newest first. */
  order?: 'asc' | 'desc'
  /** Maximum number of items on the page. From 1 to 1,000. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface ActivitiesUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** The changes, one per activity. From 1 to 500 items. */
  activities: ActivityUpdate[]
}

export interface ActivitiesDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Only activities of this document. */
  documentId?: string
  /** Only activities about this entity. */
  targetEntityId?: string
  /** Only activities with these ids. From 1 to 500 items. */
  activityIds?: string[]
}

/** A log of what happened in documents, for users to read. */
export interface ActivitiesOperations {
  /**
   * Adds activities to the log of a document. The log must be enabled with Update Activity Config. The
   * organization, the document and the users are created if they do not exist. An activity with an existing
   * id is overwritten and keeps its time; if it is immutable, the call fails and changes nothing.
   *
   * `POST /v2/activities/add`
   */
  add(input: ActivitiesAddInput, options?: CallOptions): Promise<Result<NewActivities>>
  /**
   * Reads the activities of an organization that match every filter. With a user token, `documentId` is
   * required, and activities about annotations that the user may not see are left out.
   *
   * `POST /v2/activities/get`
   */
  get(input: ActivitiesGetInput, options?: CallOptions): Promise<Result<ActivityRecord[]>>
  /**
   * Changes activities that are not immutable. A sent field replaces the stored one.
   *
   * `POST /v2/activities/update`
   */
  update(input: ActivitiesUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes the activities that match every filter and are not immutable. The answer has one outcome per sent
   * id, or, without ids, one per activity that was deleted.
   *
   * `POST /v2/activities/delete`
   */
  delete(input: ActivitiesDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
}
