import { ApiError, type Input, type Operations, type Output, type User } from '@plenum/protocol'
import { internalId } from '../access/ids.ts'
import { type Handlers, reply } from '../handler.ts'
import * as grants from '../store/grants.ts'
import type { Member } from '../store/member-lists.ts'
import * as memberLists from '../store/member-lists.ts'
import * as members from '../store/members.ts'
import * as users from '../store/users.ts'
import { byId, outcomes, unique } from './batches.ts'
import { levelOf, requireLevel } from './levels.ts'
import { listAll, page, type Window } from './paging.ts'

export const userHandlers: Handlers<Operations['users']> = {
  async add({ input, caller: { apiKey }, db, now }) {
    const level = levelOf(input)
    const create = {
      organization: input.createOrganization ?? true,
      document: input.createDocument,
      folder: input.createFolder,
    }
    await requireLevel(db, apiKey, level, create, now)
    const items = byId(input.users, (user) => user.userId)
    const there = await grants.find(db, apiKey, level, [...items.keys()], now)
    await users.put(db, apiKey, items, now)
    // Whoever is there keeps what the call does not set: adding again must not make a passing grant permanent.
    const granted = [...items].flatMap(([userId, { accessRole: sent }]) => {
      const had = there.get(userId)
      if (had && sent === undefined) return []
      return [{ userId, accessRole: sent ?? 'editor', expiresAt: had?.expiresAt ?? null }]
    })
    await grants.put(db, apiKey, level, granted, now)
    return outcomes(items.keys(), (userId) => ({
      success: true,
      id: internalId(apiKey, 'user', input.organizationId, userId),
      message: there.has(userId) ? 'User updated.' : 'User added.',
    }))
  },

  async get(call) {
    const { input, caller, db, version, pages, now } = call
    const { apiKey } = caller
    const level = levelOf(input)
    const list = listOf(input, level)
    const filter = { userIds: input.userIds, groupIds: input.organizationUserGroupIds }
    const read = (window: Window) => list(db, apiKey, level, { ...window, filter, now })
    const cursor = ({ resourceId, createdAt, user: { userId } }: Member) =>
      input.groupByDocumentId ? [resourceId, createdAt, userId] : [createdAt, userId]

    if (version === 'v1') return listAll(call, read, cursor, (rows) => rows.map(({ user }) => user))
    const { data, extra } = await page(pages, input, read, cursor)
    return reply<Output<Operations['users']['get']>>(
      input.groupByDocumentId ? byResource(data) : data.map((member) => member.user),
      { extra },
    )
  },

  async update({ input, caller: { apiKey }, db, now }) {
    const level = levelOf(input)
    const items = byId(input.users, (user) => user.userId)
    const there = await members.update(db, apiKey, level, items, now)
    // Also one that is stored already: it counts against what tokens said in between.
    const wanting = (role: AccessRole) => [...there].filter((id) => items.get(id)?.accessRole === role)
    await grants.setRole(db, apiKey, level, wanting('viewer'), 'viewer', now)
    await grants.setRole(db, apiKey, level, wanting('editor'), 'editor', now)
    return outcomes(items.keys(), (userId) => ({
      success: there.has(userId),
      id: internalId(apiKey, 'user', input.organizationId, userId),
      message: there.has(userId) ? 'User updated.' : 'User does not exist.',
    }))
  },

  async delete({ input, caller: { apiKey }, db, now }) {
    const userIds = unique(input.userIds)
    const removed = await members.remove(db, apiKey, levelOf(input), userIds, now)
    return outcomes(userIds, (userId) => ({
      success: removed.has(userId),
      message: removed.has(userId) ? 'User removed.' : 'User does not exist.',
    }))
  },
}

type AccessRole = grants.Grant['accessRole']
type GetInput = Input<Operations['users']['get']>

/** The list that was asked for: the users of one level, or of all documents. */
function listOf({ allDocuments, groupByDocumentId }: GetInput, level: grants.Level) {
  if (!allDocuments) {
    if (groupByDocumentId) throw new ApiError('INVALID_ARGUMENT', 'groupByDocumentId requires allDocuments.')
    return memberLists.atLevel
  }
  if (level.type !== 'organization') {
    throw new ApiError('INVALID_ARGUMENT', 'allDocuments cannot be combined with documentId or folderId.')
  }
  return groupByDocumentId ? memberLists.byDocument : memberLists.ofDocuments
}

function byResource(found: readonly Member[]): Record<string, User[]> {
  const groups = new Map<string, User[]>()
  for (const { resourceId, user } of found) {
    const group = groups.get(resourceId)
    if (group) group.push(user)
    else groups.set(resourceId, [user])
  }
  return Object.fromEntries(groups)
}
