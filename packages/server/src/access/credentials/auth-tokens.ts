import { createHmac, timingSafeEqual } from 'node:crypto'
import type { TokenRecord } from '../../store/api-keys.ts'

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = base64url({ alg: 'HS256', typ: 'JWT' })

/**
 * Signs the auth token of `audience`, an API key or a workspace. The same record gives the same token, so tokens are not
 * stored (spec 26 #24).
 */
export function mintAuthToken(key: Buffer, audience: string, { tokenId, issuedAt }: TokenRecord): string {
  const claims = { iss: 'svc', aud: audience, jti: tokenId, iat: Math.floor(issuedAt / 1000) }
  const signed = `${header}.${base64url(claims)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

/** The auth token as bytes, for `matchesAny`. */
export const expectedToken = (key: Buffer, audience: string, record: TokenRecord): Buffer =>
  Buffer.from(mintAuthToken(key, audience, record))

/**
 * Compares in constant time, and with every expected token even after a match. The time shows only the length of a token,
 * which is not secret.
 */
export function matchesAny(presented: string, expected: readonly Buffer[]): boolean {
  const candidate = Buffer.from(presented)
  let matches = false
  for (const token of expected) {
    if (token.length === candidate.length && timingSafeEqual(candidate, token)) matches = true
  }
  return matches
}
