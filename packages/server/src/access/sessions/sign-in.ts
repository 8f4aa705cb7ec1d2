import type { ApiKey } from '../../store/api-keys.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as documents from '../../store/documents/documents.ts'
import * as grants from '../../store/access/grants.ts'
import * as organizations from '../../store/organizations.ts'
import { type Look, lookOf, type Profile } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'
import type { TokenGrant, VerifiedUser } from '../tokens/token-claims.ts'

type Key = Pick<ApiKey, 'apiKey' | 'options'>

export interface SignedIn {
  /** Whether a membership was added or got its role, which changes what the user's other sessions may do. */
  hasChangedAccess: boolean
  /** The photo and color of the user, from the profile after the sign-in. */
  look: Look
}

/**
 * Stores the contents of a user token when a client identifies with it (spec 7.1, 25.7): the organizations that it names,
 * the user's membership in them if the API key has `requireAutoOrgUser`, and the user's profile. Reads first, because most
 * users have signed in before, and thousands may reconnect at the same time. `onChange` runs in the transaction if memberships
 * change.
 */
export async function signIn(
  database: Database,
  key: Key,
  user: VerifiedUser,
  now: number,
  onChange: (db: Db) => Promise<void> = async () => {},
): Promise<SignedIn> {
  const { apiKey } = key
  const { userId } = user
  const signedIn = ({ memberships, roles, profile: { stored, missing } }: Missing): SignedIn => ({
    hasChangedAccess: memberships.length > 0 || roles.length > 0,
    look: lookOf(userId, {
      photoUrl: missing?.photoUrl ?? stored.photoUrl,
      color: missing?.color ?? stored.color,
    }),
  })
  const before = await findMissing(database.read, key, user, now)
  if (isComplete(before)) return signedIn(before)
  return database.write(async (db) => {
    // Another session of the user may have stored the same meanwhile.
    const missing = await findMissing(db, key, user, now)
    if (isComplete(missing)) return signedIn(missing)
    const added = missing.organizationIds.map((organizationId) => ({ organizationId, data: {} }))
    await organizations.add(db, apiKey, added, now)
    if (missing.profile.missing) await users.putSignedIn(db, apiKey, userId, missing.profile.missing, now)
    const memberships = missing.memberships.map(({ id, accessRole, hasDefaultRole = false, expiresAt }) => ({
      level: grants.organizationLevel(id),
      userId,
      accessRole,
      hasDefaultRole,
      expiresAt,
    }))
    // The membership gets the time of the token: it never overrides a newer grant, and later changes override it.
    await grants.putAll(db, apiKey, memberships, now, user.issuedAt)
    for (const { id: organizationId, accessRole } of missing.roles)
      await grants.setDefaultRole(db, apiKey, { organizationId, userId }, accessRole, user.issuedAt)
    const done = signedIn(missing)
    if (done.hasChangedAccess) await onChange(db)
    return done
  }, apiKey)
}

/**
 * Makes sure that the document and its organization exist (spec 0.8). Before it creates the document it calls `refuse`, which
 * may return a reason not to. `created` tells other sessions, in the transaction
 * and after it. Returns the reason, or undefined if the document exists.
 */
export async function ensureDocument<Refusal>(
  database: Database,
  { apiKey }: Pick<ApiKey, 'apiKey'>,
  organizationId: string,
  documentId: string,
  now: number,
  refuse: () => Promise<Refusal | undefined> = async () => undefined,
  created?: { store: (db: Db) => Promise<void>; publish: () => void },
): Promise<Refusal | undefined> {
  if (await documents.exists(database.read, apiKey, organizationId, documentId)) return undefined
  const refusal = await refuse()
  if (refusal) return refusal
  const isCreated = await database.write(async (db) => {
    const isNew = await documents.ensure(db, apiKey, organizationId, documentId, now)
    if (isNew) await created?.store(db)
    return isNew
  }, apiKey)
  if (isCreated) created?.publish()
  return undefined
}

/** What a token contains and the database does not. */
interface Missing {
  organizationIds: readonly string[]
  memberships: readonly TokenGrant[]
  /** The roles of memberships whose role nobody has sent before. */
  roles: readonly TokenGrant[]
  profile: {
    stored: Profile
    /** The fields to set. Undefined: the stored profile is up to date. */
    missing: Profile | undefined
  }
}

/** Whether nothing is missing. */
const isComplete = ({ organizationIds, memberships, roles, profile }: Missing) =>
  [organizationIds, memberships, roles].every(({ length }) => length === 0) && profile.missing === undefined

async function findMissing(
  db: Db,
  { apiKey, options }: Key,
  user: VerifiedUser,
  now: number,
): Promise<Missing> {
  const live = user.resources.filter(
    ({ type, expiresAt }) => type === 'organization' && (expiresAt === null || expiresAt > now / 1000),
  )
  const idsOf = (resources: readonly TokenGrant[]) => resources.map(({ id }) => id).sort()
  const memberOf = await grants.findMemberships(db, apiKey, user.userId, idsOf(live), {
    since: user.issuedAt,
    now,
  })
  const named = live.filter(({ id }) => !memberOf.endedSince.has(id))
  const ids = idsOf(named)
  const there = new Set((await organizations.findMany(db, apiKey, ids)).map(({ id }) => id))
  const organizationIds = ids.filter((id) => !there.has(id))
  const memberships = options.requireAutoOrgUser ? named.filter(({ id }) => !memberOf.current.has(id)) : []

  const roles = named.filter(({ id, hasDefaultRole }) => !hasDefaultRole && memberOf.withDefaultRole.has(id))

  const stored = await users.findProfile(db, apiKey, user.userId)
  const profile = { stored: stored?.profile ?? {}, missing: missingOf(user, stored) }
  return { organizationIds, memberships, roles, profile }
}

/**
 * The profile fields that a token may set, with their maximum length. `isAdmin` is not stored: it applies in the token only
 * (spec 22.1).
 */
const maxProfileLengths = { name: 1000, email: 320, photoUrl: 2000, initial: 10, color: 50, textColor: 50 }

/**
 * Returns the profile fields to set, or undefined if there are none. A token may be used for two days after it was issued.
 * So it fills missing fields, but replaces no field of a profile that has changed since.
 */
function missingOf(
  { properties, issuedAt }: VerifiedUser,
  stored: { profile: Profile; lastUpdated: number } | undefined,
): Profile | undefined {
  const claimed = Object.entries(maxProfileLengths).flatMap(([field, maxLength]): [string, string][] => {
    const value = properties[field]
    return typeof value === 'string' && value.trim() !== '' && value.length <= maxLength
      ? [[field, value]]
      : []
  })
  if (!stored) return Object.fromEntries(claimed)
  const isNewer = issuedAt >= stored.lastUpdated
  const differing = claimed.filter(([field, value]) => {
    const before = stored.profile[field]
    return before === undefined || (isNewer && before !== value)
  })
  return differing.length === 0 ? undefined : Object.fromEntries(differing)
}
