import Type from 'typebox'
import { CreateOrganization } from '../base/fields.ts'
import { idBatch, OrganizationId, UserGroupId } from '../base/ids.ts'
import { allOf, unless } from '../base/conditions.ts'
import { operation } from '../base/operation.ts'
import { batch, flag, mapOf, v2Only } from '../base/schemas.ts'
import { Outcomes } from '../resources/outcomes.ts'
import { GroupMemberOutcome, UserGroupInput } from '../resources/user-groups.ts'

const group = { organizationId: OrganizationId, organizationUserGroupId: UserGroupId }
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
    summary: 'Adds user groups to an organization.',
    description: 'A group that exists gets the new name.',
    input: Type.Object({
      organizationId: OrganizationId,
      createOrganization: v2Only(CreateOrganization),
      organizationUserGroups: batch(UserGroupInput, 'The user groups to add.'),
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
    input: Type.Object({ ...group, userIds: idBatch('Ids of the users to add.') }),
    output: mapOf(GroupMemberOutcome),
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
    summary: 'Removes some or all users from a group.',
    input: Type.Object(
      {
        ...group,
        userIds: Type.Optional(idBatch('Ids of the users to remove. Send either this or `deleteAll`.')),
        deleteAll: Type.Optional(
          flag('True: removes all users from the group. Send either this or `userIds`.'),
        ),
      },
      {
        'x-conditions': {
          ...unless('deleteAll', true, allOf('userIds')),
          not: {
            properties: { deleteAll: { const: true }, userIds: {} },
            required: ['deleteAll', 'userIds'],
          },
        },
      },
    ),
    output: mapOf(GroupMemberOutcome),
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
