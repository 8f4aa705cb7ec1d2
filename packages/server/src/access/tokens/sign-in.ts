import type { ApiKey } from '../../store/api-keys.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as documents from '../../store/documents/documents.ts'
import * as grants from '../../store/access/grants.ts'
import * as organizations from '../../store/organizations.ts'
import { type Look, lookOf, type Profile } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'
import type { TokenGrant, VerifiedUser } from './token-claims.ts'

type Key = Pick<ApiKey, 'apiKey' | 'options'>

export interface SignedIn {
  /** Whether the user became a member somewhere, which changes what the user's other sessions may do. */
  isNewMember: boolean
  /** From the profile as it is afterwards. */
  look: Look
}

/**
 * What identifying with a token leaves behind (spec 7.1, 25.7): the organizations it names, membership in them, and the
 * profile. Reads first: most who sign in were here before, and thousands may come back at once.
 */
export async function signIn(
  database: Database,
  key: Key,
  user: VerifiedUser,
  now: number,
): Promise<SignedIn> {
  const { apiKey } = key
  const { userId } = user
  const signedIn = ({ memberships, profile: { stored, missing } }: Missing): SignedIn => ({
    isNewMember: memberships.length > 0,
    look: lookOf(userId, {
      photoUrl: missing?.photoUrl ?? stored.photoUrl,
      color: missing?.color ?? stored.color,
    }),
  })
  const before = await findMissing(database.read, key, user, now)
  if (isNothing(before)) return signedIn(before)
  return database.write(async (db) => {
    // Another session of the user may have been faster.
    const missing = await findMissing(db, key, user, now)
    if (isNothing(missing)) return signedIn(missing)
    const added = missing.organizationIds.map((organizationId) => ({ organizationId, data: {} }))
    await organizations.add(db, apiKey, added, now)
    if (missing.profile.missing) await users.putSignedIn(db, apiKey, userId, missing.profile.missing, now)
    const memberships = missing.memberships.map(({ id, accessRole, expiresAt }) => ({
      level: grants.organizationLevel(id),
      userId,
      accessRole,
      expiresAt,
    }))
    // As old as the token: it never beats a newer one, and what was changed since beats it.
    await grants.putAll(db, apiKey, memberships, now, user.issuedAt)
    return signedIn(missing)
  }, apiKey)
}

/**
 * The document and its organization exist afterwards (spec 0.8), unless `refuse` says why they may not be created; it is
 * called only if there is no such document.
 */
export async function openDocument<Refusal>(
  database: Database,
  { apiKey }: Pick<ApiKey, 'apiKey'>,
  organizationId: string,
  documentId: string,
  now: number,
  refuse: () => Promise<Refusal | undefined> = async () => undefined,
): Promise<Refusal | undefined> {
  if (await documents.exists(database.read, apiKey, organizationId, documentId)) return undefined
  const refusal = await refuse()
  if (refusal) return refusal
  await database.write((db) => documents.ensure(db, apiKey, organizationId, documentId, now), apiKey)
  return undefined
}

interface Missing {
  organizationIds: readonly string[]
  memberships: readonly TokenGrant[]
  profile: {
    stored: Profile
    /** Fields to set; undefined if the profile is there and fits. */
    missing: Profile | undefined
  }
}

/** Whether the sign-in has no effect. */
const isNothing = ({ organizationIds, memberships, profile }: Missing) =>
  organizationIds.length === 0 && memberships.length === 0 && profile.missing === undefined

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
  const memberOf = await grants.memberships(db, apiKey, user.userId, idsOf(live), {
    since: user.issuedAt,
    now,
  })
  const named = live.filter(({ id }) => !memberOf.endedSince.has(id))
  const ids = idsOf(named)
  const there = new Set((await organizations.findMany(db, apiKey, ids)).map(({ id }) => id))
  const organizationIds = ids.filter((id) => !there.has(id))
  const memberships = options.requireAutoOrgUser ? named.filter(({ id }) => !memberOf.current.has(id)) : []

  const stored = await users.findProfile(db, apiKey, user.userId)
  const profile = { stored: stored?.profile ?? {}, missing: missingOf(user, stored) }
  return { organizationIds, memberships, profile }
}

/** What a token may say of how its user is shown, by the longest text. `isAdmin` counts in the token only (spec 22.1). */
const shown = { name: 1000, email: 320, photoUrl: 2000, initial: 10, color: 50, textColor: 50 }

/**
 * The token tells what was known when it was issued, and may come back for two days: it fills what is missing, but does
 * not undo what was changed since.
 */
function missingOf(
  { properties, issuedAt }: VerifiedUser,
  stored: { profile: Profile; lastUpdated: number } | undefined,
): Profile | undefined {
  const said = Object.entries(shown).flatMap(([field, longest]): [string, string][] => {
    const value = properties[field]
    return typeof value === 'string' && value.trim() !== '' && value.length <= longest ? [[field, value]] : []
  })
  if (!stored) return Object.fromEntries(said)
  const isNewer = issuedAt >= stored.lastUpdated
  const differing = said.filter(([field, value]) => {
    const before = stored.profile[field]
    return before === undefined || (isNewer && before !== value)
  })
  return differing.length === 0 ? undefined : Object.fromEntries(differing)
}
