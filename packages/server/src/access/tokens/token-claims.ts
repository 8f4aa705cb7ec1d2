import { isChosenId } from '@plenum/protocol'
import { decodeJwt } from 'jose'
import type { Level } from '../../store/access/grants.ts'
import { isBackendUserId } from '../backend-users.ts'

import type { AccessRole } from '../permissions.ts'

/** The maximum lifetime of a user token: 48 hours. The interface defines it. */
export const userTokenSeconds = 48 * 60 * 60

/** A grant on one level in a user token, for the sessions that use the token (spec 25.3). */
export interface TokenGrant extends Level {
  accessRole: AccessRole
  /** Whether nobody sent the role when the token was issued. */
  hasDefaultRole?: boolean
  /** Unix seconds. Null: the grant ends with the token. */
  expiresAt: number | null
  /** When the token was issued, in Unix milliseconds. */
  issuedAt: number
}

/** The user of a verified token. The API key may have been deleted since the token was issued. */
export interface VerifiedUser {
  apiKey: string
  userId: string
  name?: string
  email?: string
  isAdmin: boolean
  /** All of `userProperties`, including the three above. */
  properties: Record<string, unknown>
  resources: readonly TokenGrant[]
  /** Whether the token opens only the documents in `resources`, with at most the role that it names there. */
  isLimited?: boolean
  /** Unix milliseconds. */
  issuedAt: number
  /** Unix seconds. */
  expiresAt: number
}

/** Thrown for a token that is refused. The message is for the developer of the client. */
export class TokenError extends Error {
  readonly code: 'token_expired' | 'token_invalid'

  constructor(code: TokenError['code'], message: string) {
    super(message)
    this.name = 'TokenError'
    this.code = code
  }
}

/** Returns the API key in a token, not verified. Empty: the token contains none. */
export function claimedApiKey(token: string): string {
  try {
    const { aud } = decodeJwt(token)
    return typeof aud === 'string' ? aud : ''
  } catch {
    return ''
  }
}

/**
 * Returns the user in the claims of a token that this server signed, or undefined if this server does not issue such
 * claims.
 */
export function readClaims(claims: Record<string, unknown>): VerifiedUser | undefined {
  const { aud, sub, iat, exp, issuedAtMs, userProperties, permissions } = claims
  if (!isChosenId(aud) || !isChosenId(sub) || !isSeconds(iat) || !isSeconds(exp)) return undefined
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
  const { type, id, accessRole, isDefaultRole = false, expiresAt = null } = resource
  const organizationId = type === 'organization' ? id : resource.organizationId
  if (type !== 'organization' && type !== 'folder' && type !== 'document' && type !== 'context')
    return undefined
  if (accessRole !== 'viewer' && accessRole !== 'editor') return undefined
  if (typeof isDefaultRole !== 'boolean') return undefined
  if (!isChosenId(id) || !isChosenId(organizationId) || !(expiresAt === null || isSeconds(expiresAt)))
    return undefined
  const grant = { organizationId, type, id, accessRole, expiresAt, issuedAt } as const
  return isDefaultRole ? { ...grant, hasDefaultRole: true } : grant
}

const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const isInSecond = (value: unknown, seconds: number): value is number =>
  Number.isSafeInteger(value) && Math.floor((value as number) / 1000) === seconds

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
