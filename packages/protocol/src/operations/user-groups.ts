import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { Outcomes } from '../resources/outcomes.ts'
import { batch, ClientId, ClientIds, Flag, mapOf, v2Only } from '../base/fields.ts'

/** What became of one user of a group. */
const MemberOutcomes = mapOf(
  Type.Object({ success: Type.Boolean(), organizationUserGroupId: Type.String(), message: Type.String() }),
)

const GroupName = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })
const group = { organizationId: ClientId, organizationUserGroupId: ClientId }
const organizationUserGroupId = 'engineering'
const unknownGroup = {
  status: 'INVALID_ARGUMENT',
  message: 'Organization user group does not exist.',
} as const

export const userGroups = {
  add: operation({
    spec: '13.1',
    path: '/organizations/usergroups/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add User Groups',
    summary: 'Adds groups of users to an organization.',
    description: 'A group that exists already gets the new name.',
    input: Type.Object({
      organizationId: ClientId,
      createOrganization: v2Only(Flag),
      organizationUserGroups: batch(Type.Object({ groupId: ClientId, groupName: GroupName })),
    }),
    output: Outcomes,
    message: 'Organization User Groups added successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' }],
    example: {
      input: {
        organizationId: 'org_1',
        organizationUserGroups: [{ groupId: organizationUserGroupId, groupName: 'Engineering' }],
      },
      output: {
        engineering: {
          success: true,
          id: '77ab2f7e08d94c1b93e5a6d0417fcc95',
          message: 'Organization user group added.',
        },
      },
    },
  }),
  addUsers: operation({
    spec: '13.2',
    path: '/organizations/usergroups/users/add',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Add Users to Group',
    summary: 'Adds users of the organization to a group.',
    input: Type.Object({ ...group, userIds: ClientIds }),
    output: MemberOutcomes,
    message: 'Added organization users to group successfully.',
    errors: [unknownGroup],
    example: {
      input: { organizationId: 'org_1', organizationUserGroupId, userIds: ['user_1', 'user_2'] },
      output: {
        user_1: { success: true, organizationUserGroupId, message: 'User added to organization user group.' },
        user_2: { success: false, organizationUserGroupId, message: 'User does not exist.' },
      },
    },
  }),
  deleteUsers: operation({
    spec: '13.3',
    path: '/organizations/usergroups/users/delete',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    title: 'Delete Users from Group',
    summary: 'Removes users from a group, or all of them.',
    input: Type.Object({ ...group, userIds: Type.Optional(ClientIds), deleteAll: Type.Optional(Flag) }),
    output: MemberOutcomes,
    message: 'Deleted users from group successfully.',
    errors: [unknownGroup, { status: 'INVALID_ARGUMENT', message: 'Provide either userIds or deleteAll.' }],
    example: {
      input: { organizationId: 'org_1', organizationUserGroupId, userIds: ['user_1'] },
      output: {
        user_1: {
          success: true,
          organizationUserGroupId,
          message: 'User deleted from organization user group.',
        },
      },
    },
  }),
}
