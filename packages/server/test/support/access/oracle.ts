import type { Role } from '../clients/raw-client.ts'

/** The decision of spec 25.4, implemented a second time and independently, to compare it with the server's. */

export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type Resource = 'organization' | 'folder' | 'document'

/** A document with all levels above it. */
export interface DocumentLevels {
  /** The document, its folders from the nearest upwards, the organization: `document deep`, `folder inner`, … */
  levels: readonly string[]
  /** Levels with their own access type; an organization never has one. */
  types: ReadonlyMap<string, AccessType>
  defaultType: AccessType
}

export interface Grant {
  level: string
  /** Undefined: nobody sent a role. */
  role?: Role
  /** Unix seconds. */
  expiresAt?: number
}

/** The grants of a user in one session: at most one of each kind. On the same level the newer one applies (25.3). */
export interface UserGrants {
  stored?: Grant
  token?: Grant
  newer?: 'stored' | 'token'
}

const isLive = ({ expiresAt }: Grant, at: number) => expiresAt === undefined || at < expiresAt

/**
 * The applicable grants. On one level the newer one wins; a stored grant that ended still overrides an older token. The role is
 * the last one that was sent (25.3.5).
 */
function applicable({ stored, token, newer }: UserGrants, at: number): Grant[] {
  const both = [stored, token].flatMap((grant) => grant ?? [])
  const live = both.filter((grant) => isLive(grant, at))
  if (!stored || !token || stored.level !== token.level) return live
  if (newer === 'stored' && !live.includes(stored)) return []
  const newestFirst = live.sort((a) => (a === (newer === 'stored' ? stored : token) ? -1 : 1))
  const role = newestFirst.find((grant) => grant.role)?.role
  return newestFirst.slice(0, 1).map((grant) => ({ ...grant, ...(role && { role }) }))
}

/** The role of the user in the document at the time `at`, in Unix seconds. */
export function expectedRole(
  { levels, types, defaultType }: DocumentLevels,
  grants: UserGrants,
  at: number,
): Role | 'denied' {
  const applied = applicable(grants, at)
  const definedAt = levels.findIndex((level) => types.has(level))
  const type = definedAt < 0 ? defaultType : types.get(levels[definedAt] as string)
  const organization = levels.length - 1
  // `restricted`: grants apply at or below the level that defines the type, and never on the organization.
  const above = type !== 'restricted' ? levels.length : definedAt < 0 ? organization : definedAt + 1
  const found = levels.slice(0, above).map((level) => applied.find((grant) => grant.level === level))
  if (found.some((grant) => grant !== undefined)) return found.find((grant) => grant?.role)?.role ?? 'editor'
  return type === 'public' ? 'editor' : 'denied'
}
