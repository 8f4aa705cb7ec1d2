import { ClientId } from '@plenum/protocol'
import { decodeJwt } from 'jose'
import type { Level } from '../../store/access/grants.ts'
import { isBackendUserId } from '../backend-users.ts'
import type { AccessRole } from '../permissions.ts'

/** From the interface: a user token ends 48 hours after it was issued, unless less was asked for. */
export const userTokenSeconds = 48 * 60 * 60

/** What a token permits on one level, for the sessions that present it (spec 25.3). */
export interface TokenGrant extends Level {
  accessRole: AccessRole
  /** Unix seconds; null is as long as the token. */
  expiresAt: number | null
  /** That of the token. */
  issuedAt: number
}

/** Who a genuine token speaks of. Whether its API key still exists is not known from it. */
export interface VerifiedUser {
  apiKey: string
  userId: string
  name?: string
  email?: string
  isAdmin: boolean
  /** All of `userProperties`, the three above included. */
  properties: Record<string, unknown>
  resources: readonly TokenGrant[]
  /** The token opens the documents among its resources only, with at most their role. */
  isLimited?: boolean
  /** Epoch milliseconds. */
  issuedAt: number
  /** Unix seconds. */
  expiresAt: number
}

/** The token does not open anything; the message is a sentence for whoever develops the client. */
export class TokenError extends Error {
  readonly code: 'token_expired' | 'token_invalid'

  constructor(code: TokenError['code'], message: string) {
    super(message)
    this.name = 'TokenError'
    this.code = code
  }
}

/** The API key that a token names. Not verified. */
export function claimedApiKey(token: string): string {
  try {
    const { aud } = decodeJwt(token)
    return typeof aud === 'string' ? aud : ''
  } catch {
    return ''
  }
}

/** The user in the claims of a token that we signed; undefined if they are not such as we write. */
export function readClaims(claims: Record<string, unknown>): VerifiedUser | undefined {
  const { aud, sub, iat, exp, issuedAtMs, userProperties, permissions } = claims
  if (!isId(aud) || !isId(sub) || !isSeconds(iat) || !isSeconds(exp)) return undefined
  if (exp <= iat || exp > iat + userTokenSeconds) return undefined
  if (!isInSecond(issuedAtMs, iat) || isBackendUserId(sub)) return undefined
  if (!isObject(userProperties) || !isObject(permissions) || !Array.isArray(permissions.resources)) {
    return undefined
  }
  const { limited = false } = permissions
  if (typeof limited !== 'boolean') return undefined
  const { name, email, isAdmin = false } = userProperties
  if (!isOptionalText(name) || !isOptionalText(email) || typeof isAdmin !== 'boolean') return undefined
  const resources = permissions.resources.map((resource) => readGrant(resource, issuedAtMs))
  if (!resources.every((grant) => grant !== undefined)) return undefined
  return {
    apiKey: aud,
    userId: sub,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    isAdmin,
    properties: userProperties,
    resources,
    ...(limited && { isLimited: limited }),
    issuedAt: issuedAtMs,
    expiresAt: exp,
  }
}

function readGrant(resource: unknown, issuedAt: number): TokenGrant | undefined {
  if (!isObject(resource)) return undefined
  const { type, id, accessRole, expiresAt = null } = resource
  const organizationId = type === 'organization' ? id : resource.organizationId
  if (type !== 'organization' && type !== 'folder' && type !== 'document') return undefined
  if (accessRole !== 'viewer' && accessRole !== 'editor') return undefined
  if (!isId(id) || !isId(organizationId) || !(expiresAt === null || isSeconds(expiresAt))) return undefined
  return { organizationId, type, id, accessRole, expiresAt, issuedAt }
}

const { pattern, maxLength } = ClientId as unknown as { pattern: string; maxLength: number }
const idPattern = new RegExp(pattern, 'u')
/** A character outside the basic plane counts once in the schema and twice here. */
const longestId = 2 * maxLength

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= longestId && idPattern.test(value)

const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const isInSecond = (value: unknown, seconds: number): value is number =>
  Number.isSafeInteger(value) && Math.floor((value as number) / 1000) === seconds

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
