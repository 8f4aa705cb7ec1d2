import { ApiError, type Operations } from '@plenum/protocol'
import { internalId } from '../access/ids.ts'
import type { Handlers } from '../calls/call.ts'
import type { Db } from '../store/engine/db.ts'
import * as grants from '../store/access/grants.ts'
import * as userGroups from '../store/users/user-groups.ts'
import { byId, outcomes, unique } from './shared/batches.ts'
import { doesNotExist } from './shared/does-not-exist.ts'
import { requireLevel } from './shared/levels.ts'

export const userGroupHandlers: Handlers<Operations['userGroups']> = {
  async add({ input, caller: { apiKey }, db, now }) {
    const { organizationId } = input
    const organization = input.createOrganization === true
    await requireLevel(db, apiKey, grants.organizationLevel(organizationId), { organization }, now)
    const groups = byId(input.organizationUserGroups, (group) => group.groupId)
    await userGroups.put(db, apiKey, organizationId, [...groups.values()], now)
    return outcomes(groups.keys(), (groupId) => ({
      success: true,
      id: internalId(apiKey, 'group', organizationId, groupId),
      message: 'Organization user group added.',
    }))
  },

  async addUsers({ input, caller: { apiKey }, db, now }) {
    const { organizationId, organizationUserGroupId } = input
    await requireGroup(db, apiKey, input)
    const userIds = unique(input.userIds)
    const there = await grants.find(db, apiKey, grants.organizationLevel(organizationId), userIds, now)
    await userGroups.addUsers(db, apiKey, organizationId, organizationUserGroupId, [...there.keys()], now)
    return memberOutcomes(userIds, there, organizationUserGroupId, 'User added to organization user group.')
  },

  deleteUsers: {
    scope: ({ organizationId, organizationUserGroupId, userIds, deleteAll }) =>
      deleteAll === true && userIds === undefined
        ? { organizationId, groupId: organizationUserGroupId }
        : undefined,
    async remove({ input, caller: { apiKey }, db, alreadyRemovedIds }) {
      const { organizationId, organizationUserGroupId, deleteAll = false } = input
      if ((input.userIds === undefined) !== deleteAll) {
        throw new ApiError('INVALID_ARGUMENT', 'Provide either userIds or deleteAll.')
      }
      await requireGroup(db, apiKey, input)
      const userIds = input.userIds && unique(input.userIds)
      const rest = await userGroups.removeUsers(
        db,
        apiKey,
        organizationId,
        organizationUserGroupId,
        userIds ?? 'all',
      )
      const removed = new Set([...(alreadyRemovedIds ?? []), ...rest])
      return memberOutcomes(
        userIds ?? removed,
        removed,
        organizationUserGroupId,
        'User deleted from organization user group.',
      )
    },
  },
}

interface GroupInput {
  organizationId: string
  organizationUserGroupId: string
}

async function requireGroup(db: Db, apiKey: string, { organizationId, organizationUserGroupId }: GroupInput) {
  if (await userGroups.exists(db, apiKey, organizationId, organizationUserGroupId)) return
  throw doesNotExist('Organization user group')
}

const memberOutcomes = (
  userIds: Iterable<string>,
  done: { has(userId: string): boolean },
  organizationUserGroupId: string,
  message: string,
) =>
  Object.fromEntries(
    [...userIds].map((userId) => [
      userId,
      {
        success: done.has(userId),
        organizationUserGroupId,
        message: done.has(userId) ? message : 'User does not exist.',
      },
    ]),
  )
