// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Outcome } from './organizations.ts'

export interface UserGroupsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Whether to create an organization that does not exist. Ignored under v1. */
  createOrganization?: boolean
  /** The groups. 1 to 500 items. */
  organizationUserGroups: {
    /** Id of the group. */
    groupId: string
    /** Name of the group, for people. At most 200 characters. */
    groupName: string
  }[]
}

export interface UserGroupsAddUsersInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the group. */
  organizationUserGroupId: string
  /** Ids of the users. 1 to 500 items. */
  userIds: string[]
}

export interface UserGroupsDeleteUsersInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the group. */
  organizationUserGroupId: string
  /** Ids of the users. 1 to 500 items. */
  userIds?: string[]
  /** Removes all users from the group. Send either this or `userIds`. */
  deleteAll?: boolean
}

/** Named groups of the users of an organization. */
export interface UserGroupsOperations {
  /**
   * Adds groups of users to an organization. A group that exists already gets the new name.
   *
   * `POST /v2/organizations/usergroups/add`
   */
  add(input: UserGroupsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Adds users of the organization to a group.
   *
   * `POST /v2/organizations/usergroups/users/add`
   */
  addUsers(input: UserGroupsAddUsersInput, options?: CallOptions): Promise<Result<Record<string, {
  /** Whether it was done. */
  success: boolean
  /** Id of the group. */
  organizationUserGroupId: string
  /** What happened, for people. */
  message: string
}>>>
  /**
   * Removes users from a group, or all of them.
   *
   * `POST /v2/organizations/usergroups/users/delete`
   */
  deleteUsers(input: UserGroupsDeleteUsersInput, options?: CallOptions): Promise<Result<Record<string, {
  /** Whether it was done. */
  success: boolean
  /** Id of the group. */
  organizationUserGroupId: string
  /** What happened, for people. */
  message: string
}>>>
}
