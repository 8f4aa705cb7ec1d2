import { ApiError, type Input, type Operations, type Outcomes } from '@plenum/protocol'
import { internalId } from '../access/ids.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { listUsersOfDocuments } from '../store/users/document-users.ts'
import * as grants from '../store/access/grants.ts'
import type { Member } from '../store/users/member.ts'
import * as memberLists from '../store/users/member-lists.ts'
import * as members from '../store/users/members.ts'
import * as users from '../store/users/users.ts'
import { listUsersByDocument } from '../store/users/users-by-document.ts'
import { listUsers } from './list-users.ts'
import { byId, outcomes, unique } from './shared/batches.ts'
import { levelOf, requireLevel } from './shared/levels.ts'
import { listAll, page, pageOfGroups, type Window } from './shared/paging.ts'

export const userHandlers: Handlers<Operations['users']> = {
  async add({ input, caller: { apiKey }, db, now, signal }) {
    const level = levelOf(input)
    const create = {
      organization: input.createOrganization ?? true,
      document: input.createDocument,
      folder: input.createFolder,
    }
    await requireLevel(db, apiKey, level, create, now, signal)
    const items = byId(input.users, (user) => user.userId)
    const there = await grants.find(db, apiKey, level, [...items.keys()], now)
    // Locks the profiles of all users before any is written. `grants.put` below locks only some of them, which is too late.
    await grants.holdProfiles(db, apiKey, [...items.keys()])
    await users.put(db, apiKey, items, now)
    // A member who is added again keeps the expiry, and without a sent role the whole grant. Otherwise an expiring grant
    // would become permanent.
    const granted = [...items].flatMap(([userId, { accessRole: sent }]) => {
      const had = there.get(userId)
      if (had && sent === undefined) return []
      const role = { accessRole: sent ?? 'editor', hasDefaultRole: sent === undefined } as const
      return [{ userId, ...role, expiresAt: had?.expiresAt ?? null }]
    })
    await grants.put(db, apiKey, level, granted, now)
    signal(peopleIn(input.organizationId, [...items.keys()]))
    return outcomes(items.keys(), (userId) => ({
      success: true,
      id: internalId(apiKey, 'user', input.organizationId, userId),
      message: there.has(userId) ? 'User updated.' : 'User added.',
    }))
  },

  list: listUsers,

  async get(call) {
    const { input, caller, db, version, now, services } = call
    const { apiKey } = caller
    const level = levelOf(input)
    const list = listOf(input, level)
    const filter = { userIds: input.userIds, groupIds: input.organizationUserGroupIds }
    const reading = services.longReads.open(caller, call.abandoned)
    const query = <T>(statement: () => Promise<T>) => reading.query(statement)
    const members = {
      read: (window: Window) => list(db, apiKey, level, { ...window, filter, now, query }),
      cursor: ({ resourceId, createdAt, user: { userId } }: Member) =>
        input.groupByDocumentId
          ? [resourceId, createdAt, userId]
          : input.allDocuments
            ? [userId]
            : [createdAt, userId],
      reading,
    }
    const present = (rows: readonly Member[]) => rows.map(({ user }) => user)
    if (version === 'v1') return listAll(call, members, present)
    if (!input.groupByDocumentId) return page(call, input, members, present)
    return pageOfGroups(call, input, members, (rows) =>
      rows.map(({ resourceId, user }) => [resourceId, user] as const),
    )
  },

  update: {
    async writeAll(calls) {
      const [{ db }] = calls as [UpdateCall]
      const answers = new Map<UpdateCall, Outcomes | ApiError>()
      const updates = new Map<UpdateCall, members.MemberUpdate>()
      for (const call of callsOfOneTransaction(calls)) {
        const update = toUpdate(call)
        if (update instanceof ApiError) answers.set(call, update)
        else updates.set(call, update)
      }
      const there = await members.updateAll(db, [...updates.values()])
      for (const [index, [call, update]] of [...updates].entries()) {
        const found = there[index] as (typeof there)[number]
        answers.set(call, found instanceof ApiError ? found : await setRoles(call, update, found))
      }
      return calls.map((call) => answers.get(call))
    },
  },

  delete: {
    scope(input, now) {
      const { type, organizationId } = levelOf(input)
      // In a folder or a document a user has one grant, so one transaction is enough.
      if (type !== 'organization') return undefined
      return { organizationId, userIds: unique(input.userIds), atSeconds: Math.floor(now / 1000) }
    },
    async remove({ input, caller: { apiKey }, db, now, signal }) {
      const userIds = unique(input.userIds)
      signal(peopleIn(input.organizationId, userIds))
      const level = levelOf(input)
      const removed = await members.remove(db, apiKey, level, userIds, now)
      if (level.type === 'organization') {
        signal({ kind: 'inbox', organizationId: level.organizationId, userIds: [...removed] })
      }
      return outcomes(userIds, (userId) => ({
        success: removed.has(userId),
        message: removed.has(userId) ? 'User removed.' : 'User does not exist.',
      }))
    },
  },
}

/** Tells open lists of people that users joined or left the organization, or that their profiles changed. */
const peopleIn = (organizationId: string, userIds: readonly string[]) =>
  ({ kind: 'people', organizationIds: [organizationId], userIds }) as const

type UpdateCall = Call<Operations['users']['update']>

/** One transaction takes calls with at most this many users together. A single call may have more. */
const maxUsersTogether = 64

function callsOfOneTransaction(calls: readonly UpdateCall[]): readonly UpdateCall[] {
  let users = 0
  const end = calls.findIndex(({ input }, index) => {
    users += input.users.length
    return index > 0 && users > maxUsersTogether
  })
  return end < 0 ? calls : calls.slice(0, end)
}

/** Returns the reason if the input does not name one level. */
function toUpdate({ input, caller: { apiKey }, now }: UpdateCall): members.MemberUpdate | ApiError {
  try {
    return { apiKey, level: levelOf(input), sent: byId(input.users, (user) => user.userId), now }
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Sets the sent roles of the users who are at the level. Returns the answer of the call. */
async function setRoles(
  { input, db, signal }: UpdateCall,
  { apiKey, level, sent, now }: members.MemberUpdate,
  there: ReadonlySet<string>,
): Promise<Outcomes> {
  signal(peopleIn(input.organizationId, [...there]))
  // Written even if the same role is already stored: a role that is sent again overrides the tokens issued since.
  const wanting = (role: AccessRole) => [...there].filter((id) => sent.get(id)?.accessRole === role)
  await grants.setRole(db, apiKey, level, wanting('viewer'), 'viewer', now)
  await grants.setRole(db, apiKey, level, wanting('editor'), 'editor', now)
  return outcomes(sent.keys(), (userId) => ({
    success: there.has(userId),
    id: internalId(apiKey, 'user', input.organizationId, userId),
    message: there.has(userId) ? 'User updated.' : 'User does not exist.',
  }))
}

type AccessRole = grants.Grant['accessRole']
type GetInput = Input<Operations['users']['get']>

/** The list that the input asks for: the users of one level, or of all documents. */
function listOf({ allDocuments, groupByDocumentId }: GetInput, level: grants.Level) {
  if (!allDocuments) {
    if (groupByDocumentId) throw new ApiError('INVALID_ARGUMENT', 'groupByDocumentId requires allDocuments.')
    return memberLists.listAtLevel
  }
  if (level.type !== 'organization') {
    throw new ApiError('INVALID_ARGUMENT', 'allDocuments cannot be combined with documentId or folderId.')
  }
  return groupByDocumentId ? listUsersByDocument : listUsersOfDocuments
}
