import { ApiError, type Operations, type PresenceOutcome, PresenceUser } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import type { Db } from '../store/engine/db.ts'
import * as presence from '../store/documents/presence.ts'
import type { Look } from '../store/users/profiles.ts'
import * as users from '../store/users/users.ts'
import { byId, unique } from './shared/batches.ts'
import { ensureDocument } from './shared/levels.ts'

/** Users that a backend may add to one document. Each client that opens the document gets all of them without a pause. */
const maxEntries = 1_000

export const presenceHandlers: Handlers<Operations['presence']> = {
  async add(call) {
    const {
      input,
      caller: { apiKey },
      db,
      now,
      signal,
    } = call
    const { organizationId, documentId } = input
    const items = [...byId(input.users, (user) => user.userId).values()]
    const userIds = items.map(({ userId }) => userId)
    const known = await presence.findMany(db, apiKey, input, userIds, now)
    const added = items.length - known.length
    if (added > 0 && (await presence.count(db, apiKey, input, now, maxEntries)) + added > maxEntries) {
      const message = `A backend can add at most ${maxEntries} users to the presence of a document.`
      throw new ApiError('RESOURCE_EXHAUSTED', message)
    }
    await ensureDocument(call, input)
    await users.ensure(
      db,
      apiKey,
      items.map(({ userId, name, email }) => ({ userId, name, email })),
      now,
    )
    await presence.put(db, apiKey, input, await withLooks(db, apiKey, items), now)
    signal({ kind: 'presence', organizationId, documentId, userIds })
    return outcomeOf(input.users)
  },

  async update({ input, caller: { apiKey }, db, now, signal }) {
    const { organizationId, documentId } = input
    const items = byId(input.users, (user) => user.userId)
    const present = await presence.findMany(db, apiKey, input, [...items.keys()], now)
    const changed = present.map((entry) => ({ ...sentOf(entry), ...items.get(entry.userId) }))
    await presence.put(db, apiKey, input, await withLooks(db, apiKey, changed), now)
    signal({ kind: 'presence', organizationId, documentId, userIds: changed.map(({ userId }) => userId) })
    return outcomeOf(input.users)
  },

  async delete({ input, caller: { apiKey }, db, signal }) {
    const { organizationId, documentId } = input
    const userIds = unique(input.userIds)
    await presence.remove(db, apiKey, input, userIds)
    signal({ kind: 'presence', organizationId, documentId, userIds, removed: true })
    return { success: true }
  },
}

/** What a backend sent for the entry. */
const sentOf = ({ data, sentLook, ...entry }: presence.PresenceEntry): PresenceUser => ({
  ...entry,
  ...sentLook,
  ...(data !== undefined && { data: JSON.parse(data) as Record<string, unknown> }),
})

/** Names at most this many ignored fields. */
const maxIgnoredFields = 20

/** Success, with the names of the fields that were ignored: a caller who misspelled one would not notice otherwise. */
function outcomeOf(users: readonly PresenceUser[]): PresenceOutcome {
  const ignoredFields: string[] = []
  for (const [index, user] of users.entries()) {
    for (const field of Object.keys(user)) {
      if (ignoredFields.length === maxIgnoredFields) break
      if (!Object.hasOwn(PresenceUser.properties, field)) ignoredFields.push(`users[${index}].${field}`)
    }
  }
  return { success: true, ...(ignoredFields.length > 0 && { ignoredFields }) }
}

/** Adds to each entry the photo and color of its user. */
async function withLooks<T extends { userId: string }>(db: Db, apiKey: string, entries: readonly T[]) {
  const userIds = entries.map(({ userId }) => userId)
  const looks = await users.findLooks(db, apiKey, userIds)
  return entries.map((entry) => ({ ...entry, look: looks.get(entry.userId) as Look }))
}
