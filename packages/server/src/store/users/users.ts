import type { User } from '@plenum/protocol'
import { type ExpressionBuilder, sql } from 'kysely'
import { yieldIfLate, mapYielding } from '../../platform/turns/loop-time.ts'
import type { Db } from '../engine/db.ts'
import { batched } from '../engine/batched.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { parse, stringifyData } from '../engine/json.ts'
import { prepared } from '../engine/prepared.ts'
import { type Look, lookOf, mergeProfile, type Profile, toUser } from './profiles.ts'
import { notRemoved } from '../access/removed-grants.ts'
import type { Schema, UserTable } from '../schema/schema.ts'

/** One statement writes this many profiles: up to 1 MiB. */
const maxProfilesPerStatement = 64

/** Those of these users who have a profile. */
export async function findMany(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
): Promise<Map<string, User>> {
  const profiles = await readProfiles(db, apiKey, userIds)
  return new Map(
    await mapYielding(
      [...profiles],
      ([userId, profile]) => [userId, toUser(userId, parse(profile))] as const,
    ),
  )
}

/** The stored profiles of these users, without derived fields. */
export async function findProfiles(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
): Promise<Map<string, Profile>> {
  const profiles = await readProfiles(db, apiKey, userIds)
  return new Map(
    await mapYielding([...profiles], ([userId, profile]) => [userId, parse<Profile>(profile)] as const),
  )
}

/** Which of these ids belong to a user. */
export async function findExisting(db: Db, apiKey: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return []
  return idsOf(await selectIds(db, apiKey, userIds).execute())
}

/**
 * Which of these ids belong to a user of the organization, or to a user of none. A user belongs to an organization with a
 * stored grant, or by taking part in one of its threads.
 */
export async function findKnownIn(
  db: Db,
  apiKey: string,
  organizationId: string,
  userIds: readonly string[],
): Promise<string[]> {
  if (userIds.length === 0) return []
  const known = selectIds(db, apiKey, userIds).where((eb) =>
    eb.or([
      eb.exists(grantsOf(eb).where('grants.organization_id', '=', organizationId)),
      eb.exists(
        eb
          .selectFrom('annotation_users as involved')
          .select('involved.user_id')
          .whereRef('involved.api_key', '=', 'users.api_key')
          .where('involved.organization_id', '=', organizationId)
          .whereRef('involved.user_id', '=', 'users.user_id'),
      ),
      eb.not(eb.exists(grantsOf(eb))),
    ]),
  )
  return idsOf(await known.execute())
}

const selectIds = (db: Db, apiKey: string, userIds: readonly string[]) =>
  db.selectFrom('users').select('user_id').where('api_key', '=', apiKey).where('user_id', 'in', userIds)

const idsOf = (rows: readonly { user_id: string }[]) => rows.map((row) => row.user_id)

const selectOne = prepared(
  (db, { apiKey, userId }: { apiKey: string; userId: string }) =>
    db
      .selectFrom('users')
      .select(['profile', 'last_updated'])
      .where('api_key', '=', apiKey)
      .where('user_id', '=', userId),
  { isSmallRead: true },
)

/** The stored profile, and when it last changed. */
export async function findProfile(
  db: Db,
  apiKey: string,
  userId: string,
): Promise<{ profile: Profile; lastUpdated: number } | undefined> {
  const [row] = await selectOne(db, { apiKey, userId })
  return row && { profile: parse(row.profile), lastUpdated: row.last_updated }
}

/** The look of each of these users. A user without a profile has the default look. */
export async function findLooks(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
): Promise<Map<string, Look>> {
  const profiles = await readProfiles(db, apiKey, userIds)
  const looks = await mapYielding(userIds, (userId) => lookOf(userId, parse(profiles.get(userId) ?? '{}')))
  return new Map(userIds.map((userId, index) => [userId, looks[index] as Look]))
}

/** Creates profiles for users who have none (spec 0.8: stubs). */
export async function ensure(
  db: Db,
  apiKey: string,
  profiles: readonly (Profile & { userId: string })[],
  now: number,
) {
  // In the same order in every call, so that two calls never wait for each other's rows.
  const ordered = inLockOrder(profiles, (profile) => profile.userId)
  for (let from = 0; from < ordered.length; from += maxProfilesPerStatement) {
    await yieldIfLate()
    const rows = ordered
      .slice(from, from + maxProfilesPerStatement)
      .map((profile) => newRow(apiKey, profile.userId, mergeProfile({}, profile), now))
    await db
      .insertInto('users')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** Merges the sent fields into the profiles, and creates missing profiles. */
export async function put(
  db: Db,
  apiKey: string,
  sent: ReadonlyMap<string, Profile>,
  now: number,
): Promise<void> {
  const changes = new ProfileChanges()
  await changes.merge(apiKey, await readProfiles(db, apiKey, [...sent.keys()]), sent, now)
  await changes.save(db)
}

/**
 * Merges the fields of a user token into the profile. They are few and short, so the size of the profile is not checked.
 */
export async function putSignedIn(
  db: Db,
  apiKey: string,
  userId: string,
  fields: Profile,
  now: number,
): Promise<void> {
  const before = (await readProfiles(db, apiKey, [userId])).get(userId)
  const profile = mergeProfile(before === undefined ? {} : parse(before), fields)
  await upsert(db, [toRow(apiKey, userId, profile, JSON.stringify(profile), now)])
}

/** The changes of profiles that one transaction writes. */
export class ProfileChanges {
  /** The changed rows, by API key and user id. */
  readonly #rows = new Map<string, Row>()

  /**
   * Merges the sent fields into the profiles. `stored` has the profiles that were read in the transaction, as JSON. Throws
   * if a profile would be too large, and then changes nothing.
   */
  async merge(
    apiKey: string,
    stored: ReadonlyMap<string, string>,
    sent: ReadonlyMap<string, Profile>,
    now: number,
  ): Promise<void> {
    const changed: Row[] = []
    for (const [userId, fields] of sent) {
      await yieldIfLate()
      const before = this.#rows.get(rowKey(apiKey, userId))?.profile ?? stored.get(userId)
      const profile = mergeProfile(before === undefined ? {} : parse(before), fields)
      const row = toRow(apiKey, userId, profile, profileText(userId, profile), now)
      if (row.profile !== before) changed.push(row)
    }
    for (const row of changed) this.#rows.set(rowKey(apiKey, row.user_id), row)
  }

  /** Writes the profiles that changed. */
  async save(db: Db): Promise<void> {
    // In the same order in every call, so that two calls never wait for each other's rows.
    const rows = inLockOrder(this.#rows, ([key]) => key).map(([, row]) => row)
    for (let from = 0; from < rows.length; from += maxProfilesPerStatement) {
      await yieldIfLate()
      await upsert(db, rows.slice(from, from + maxProfilesPerStatement))
    }
  }
}

export async function remove(db: Db, apiKey: string, userIds: readonly string[]): Promise<void> {
  await db.deleteFrom('users').where('api_key', '=', apiKey).where('user_id', 'in', userIds).execute()
}

/** The grants of the user of the row. */
const grantsOf = (eb: ExpressionBuilder<Schema, 'users'>) =>
  eb
    .selectFrom('grants')
    .select('grants.user_id')
    .whereRef('grants.api_key', '=', 'users.api_key')
    .whereRef('grants.user_id', '=', 'users.user_id')
    .where(notRemoved)

/** Removes the profiles of users who have no grant left. */
export async function removeWithoutGrants(db: Db, apiKey: string, userIds: readonly string[]): Promise<void> {
  await db
    .deleteFrom('users')
    .where('api_key', '=', apiKey)
    .where('user_id', 'in', userIds)
    .where((eb) => eb.not(eb.exists(grantsOf(eb))))
    .execute()
}

// A type and not an interface, so that it fits the values of a prepared query.
type Row = Pick<UserTable, keyof UserTable>

const toRow = (apiKey: string, userId: string, profile: Profile, text: string, now: number): Row => ({
  api_key: apiKey,
  user_id: userId,
  email: typeof profile.email === 'string' ? profile.email.toLowerCase() : null,
  profile: text,
  created_at: now,
  last_updated: now,
})

const newRow = (apiKey: string, userId: string, profile: Profile, now: number): Row =>
  toRow(apiKey, userId, profile, profileText(userId, profile), now)

const profileText = (userId: string, profile: Profile) => stringifyData(profile, `user ${userId}`)

const rowKey = (apiKey: string, userId: string) => `${apiKey}\0${userId}`

const upsert = batched<keyof Row>(
  {
    api_key: 'text',
    user_id: 'text',
    email: 'text',
    profile: 'text',
    created_at: 'bigint',
    last_updated: 'bigint',
  },
  ({ row, fromRows }) => sql`
    insert into users (api_key, user_id, email, profile, created_at, last_updated)
    select ${row.api_key}, ${row.user_id}, ${row.email}, ${row.profile}, ${row.created_at}, ${row.last_updated}
      ${fromRows}
    where true
    on conflict (api_key, user_id) do update
      set email = excluded.email, profile = excluded.profile, last_updated = excluded.last_updated`,
)

/** The profiles as JSON, by user id. */
async function readProfiles(
  db: Db,
  apiKey: string,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(['user_id', 'profile'])
    .where('api_key', '=', apiKey)
    .where('user_id', 'in', userIds)
    .execute()
  return new Map(rows.map((row) => [row.user_id, row.profile]))
}
