import Type from 'typebox'
import { UserGroupId } from '../base/ids.ts'
import { text } from '../base/schemas.ts'
import { outcome } from './outcomes.ts'

export const UserGroupInput = Type.Object({
  groupId: UserGroupId,
  groupName: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '\\S',
    description: 'Display name of the user group.',
  }),
})

/** The result for one user of a group. */
export const GroupMemberOutcome = Type.Object({
  success: outcome.success,
  organizationUserGroupId: text('Id of the user group.'),
  message: outcome.message,
})
