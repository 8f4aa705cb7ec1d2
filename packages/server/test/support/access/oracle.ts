import type { Role } from '../clients/raw-client.ts'

/** The decision of spec 25.4, told once more and on its own, so that the server's can be compared with it. */

export type AccessType = 'public' | 'organizationPrivate' | 'restricted'
export type Resource = 'organization' | 'folder' | 'document'

/** A document with all that is above it. */
export interface Spot {
  /** The document, its folders from the nearest upwards, the organization: `document deep`, `folder inner`, … */
  levels: readonly string[]
  /** Levels that have a type of their own; an organization never has one. */
  types: ReadonlyMap<string, AccessType>
  defaultType: AccessType
}

export interface OneGrant {
  level: string
  /** Left out: `editor`. */
  role?: Role
  /** Unix seconds. */
  expiresAt?: number
}

/** What a user holds in one session. At most one of each on a level; on the same level the newer one counts (25.3). */
export interface Held {
  stored?: OneGrant
  token?: OneGrant
  newer?: 'stored' | 'token'
}

const lasts = ({ expiresAt }: OneGrant, at: number) => expiresAt === undefined || at < expiresAt

/** Of two grants on one level the newer; a stored one that is over still outdoes a token from before it. */
function counting({ stored, token, newer }: Held, at: number): OneGrant[] {
  const both = [stored, token].flatMap((grant) => grant ?? [])
  const live = both.filter((grant) => lasts(grant, at))
  if (!stored || !token || stored.level !== token.level) return live
  if (newer === 'stored') return live.filter((grant) => grant === stored)
  return live.includes(token) ? [token] : live
}

/** What the user may do there at that second. */
export function expectedRole({ levels, types, defaultType }: Spot, held: Held, at: number): Role | 'denied' {
  const grants = counting(held, at)
  const definedAt = levels.findIndex((level) => types.has(level))
  const type = definedAt < 0 ? defaultType : types.get(levels[definedAt] as string)
  const organization = levels.length - 1
  // `restricted`: at or below the level that defines the type; the organization never.
  const above = type !== 'restricted' ? levels.length : definedAt < 0 ? organization : definedAt + 1
  const found = levels.slice(0, above).map((level) => grants.find((grant) => grant.level === level))
  const mostSpecific = found.find((grant) => grant !== undefined)
  if (mostSpecific) return mostSpecific.role ?? 'editor'
  return type === 'public' ? 'editor' : 'denied'
}
