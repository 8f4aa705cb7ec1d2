import type { Db } from '../../store/engine/db.ts'
import type { Profile } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'

/** Fields of a profile that callers store with a user in a notification or an activity. */
const shownFields = ['name', 'email', 'photoUrl', 'initial', 'color', 'textColor'] as const

/** Returns the user with the values that the profile has now. */
export type CurrentUser = <T extends { userId?: string }>(user: T) => T

/**
 * Loads the profiles of users whom notifications or activities show. Only fields that are shown change, to values that the
 * profile has: so nothing is shown that nobody sent, and a user without a profile is shown as sent.
 */
export async function loadCurrentUsers(
  db: Db,
  apiKey: string,
  userIds: Iterable<string>,
): Promise<CurrentUser> {
  const profiles = await users.findProfiles(db, apiKey, [...new Set(userIds)])
  return (user) => {
    const profile: Profile | undefined = user.userId === undefined ? undefined : profiles.get(user.userId)
    if (!profile) return user
    const changed = shownFields.filter(
      (field) => Object.hasOwn(user, field) && typeof profile[field] === 'string' && profile[field] !== '',
    )
    return { ...user, ...Object.fromEntries(changed.map((field) => [field, profile[field]])) }
  }
}
