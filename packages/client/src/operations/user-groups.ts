// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { Outcome } from './organizations.ts'

export interface UserGroupInput {
  /** Id of the user group. */
  groupId: string
  /** Display name of the user group. At most 200 characters. */
  groupName: string
}

export interface GroupMemberOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Id of the user group. */
  organizationUserGroupId: string
  /** What happened to this item. */
  message: string
}

export interface UserGroupsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Whether to create the organization if it does not exist. Default: false. Ignored under v1. */
  createOrganization?: boolean
  /** The user groups to add. From 1 to 500 items. */
  organizationUserGroups: UserGroupInput[]
}

export interface UserGroupsAddUsersInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user group. */
  organizationUserGroupId: string
  /** Ids of the users to add. From 1 to 500 items. */
  userIds: string[]
}

export interface UserGroupsDeleteUsersInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user group. */
  organizationUserGroupId: string
  /** Ids of the users to remove. Send either this or `deleteAll`. From 1 to 500 items. */
  userIds?: string[]
  /** True: removes all users from the group. Send either this or `userIds`. */
  deleteAll?: boolean
}

/** Named groups of users of an organization. */
export interface UserGroupsOperations {
  /**
   * Adds user groups to an organization. A group that exists gets the new name.
   *
   * `POST /v2/organizations/usergroups/add`
   */
  add(input: UserGroupsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Adds users of the organization to a group.
   *
   * `POST /v2/organizations/usergroups/users/add`
   */
  addUsers(input: UserGroupsAddUsersInput, options?: CallOptions): Promise<Result<Record<string, GroupMemberOutcome>>>
  /**
   * Removes some or all users from a group.
   *
   * `POST /v2/organizations/usergroups/users/delete`
   */
  deleteUsers(input: UserGroupsDeleteUsersInput, options?: CallOptions): Promise<Result<Record<string, GroupMemberOutcome>>>
}
