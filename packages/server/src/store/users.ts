import type { Db } from './db.ts'
import { parse } from './json.ts'

export type Profile = Record<string, unknown>

/** The profiles of these users, by id. */
export async function findMany(db: Db, apiKey: string, userIds: readonly string[]): Promise<Map<string, Profile>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(['user_id', 'profile'])
    .where('api_key', '=', apiKey)
    .where('user_id', 'in', userIds)
    .execute()
  return new Map(rows.map((row) => [row.user_id, { ...parse<Profile>(row.profile), userId: row.user_id }]))
}

/** Profiles for those who have none yet (spec 0.8: stubs). */
export async function ensure(db: Db, apiKey: string, profiles: readonly (Profile & { userId: string })[], now: number) {
  if (profiles.length === 0) return
  await db
    .insertInto('users')
    .values(
      profiles.map(({ userId, ...profile }) => ({
        api_key: apiKey,
        user_id: userId,
        email: typeof profile.email === 'string' ? profile.email.toLowerCase() : null,
        profile: JSON.stringify(profile),
        created_at: now,
        last_updated: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
