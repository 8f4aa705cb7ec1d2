import { ApiError } from '@plenum/protocol'
import { emptySmallInboxes } from '../deletions/inboxes.ts'
import type { Db } from '../engine/db.ts'
import * as grants from '../access/grants.ts'
import type { Level } from '../access/grants.ts'
import { prepared } from '../engine/prepared.ts'
import type { Profile } from './profiles.ts'
import * as removedGrants from '../access/removed-grants.ts'
import { padded } from '../engine/slices.ts'
import * as userGroups from './user-groups.ts'
import * as users from './users.ts'

/** The live grants of these users at one level, with their profiles. Expired grants are ignored (spec 25.8). */
const selectAt = prepared(
  (
    db,
    at: {
      apiKey: string
      organizationId: string
      type: string
      id: string
      userIds: string[]
      seconds: number
    },
  ) =>
    db
      .selectFrom('grants')
      .leftJoin('users', (join) =>
        join.onRef('users.api_key', '=', 'grants.api_key').onRef('users.user_id', '=', 'grants.user_id'),
      )
      .select(['grants.user_id', 'profile'])
      .where('grants.api_key', '=', at.apiKey)
      .where('organization_id', '=', at.organizationId)
      .where('resource_type', '=', at.type as Level['type'])
      .where('resource_id', '=', at.id)
      .where('grants.user_id', 'in', at.userIds)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at.seconds)])),
  { isSmallRead: true },
)

/** Fields to merge into profiles. Users who are not at the level are skipped. */
export interface MemberUpdate {
  apiKey: string
  level: Level
  sent: ReadonlyMap<string, Profile>
  now: number
}

/**
 * Merges the sent fields into the profiles, in the order of the updates. Returns for each update the ids of its users who are
 * at the level, or the reason why nothing of it was stored.
 */
export async function updateAll(
  db: Db,
  updates: readonly MemberUpdate[],
): Promise<(ReadonlySet<string> | ApiError)[]> {
  const found = await Promise.all(
    updates.map(({ apiKey, level: { organizationId, type, id }, sent, now }) => {
      const userIds = padded([...sent.keys()])
      return selectAt(db, { apiKey, organizationId, type, id, userIds, seconds: Math.floor(now / 1000) })
    }),
  )
  const changes = new users.ProfileChanges()
  const results: (ReadonlySet<string> | ApiError)[] = []
  for (const [index, { apiKey, sent, now }] of updates.entries()) {
    const profiles = new Map<string, string>()
    const fields = new Map<string, Profile>()
    for (const { user_id, profile } of found[index] ?? []) {
      if (profile !== null) profiles.set(user_id, profile)
      fields.set(user_id, sent.get(user_id) ?? {})
    }
    try {
      await changes.merge(apiKey, profiles, fields, now)
      results.push(new Set(fields.keys()))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      results.push(error)
    }
  }
  await changes.save(db)
  return results
}

/**
 * Removes users from the level. A user who leaves an organization leaves everything inside it (spec 12.4). Returns the ids of
 * the users who were at the level.
 */
export async function remove(
  db: Db,
  apiKey: string,
  level: Level,
  userIds: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  await grants.holdProfiles(db, apiKey, userIds)
  const present = [...(await grants.find(db, apiKey, level, userIds, now)).keys()]
  const leaving = userIds.map((userId) => ({ level, userId }))
  // Before the profiles are removed, which know the addresses of the users.
  if (level.type === 'organization' && present.length > 0)
    await emptySmallInboxes(db, apiKey, level.organizationId, present)
  await removedGrants.remove(db, apiKey, leaving, now)
  if (level.type === 'organization' && present.length > 0) {
    await removedGrants.removeInside(db, apiKey, level.organizationId, present, now)
    await userGroups.removeFromAll(db, apiKey, level.organizationId, present)
    await users.removeWithoutGrants(db, apiKey, present)
  }
  return new Set(present)
}
