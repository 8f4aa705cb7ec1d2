import { createHmac, timingSafeEqual } from 'node:crypto'
import type { TokenRecord } from '../../store/api-keys.ts'

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = base64url({ alg: 'HS256', typ: 'JWT' })

/** The JWT of `audience` for that record: the same every time, so it need not be stored (spec 26 #24). */
export function mintAuthToken(key: Buffer, audience: string, { tokenId, issuedAt }: TokenRecord): string {
  const claims = { iss: 'svc', aud: audience, jti: tokenId, iat: Math.floor(issuedAt / 1000) }
  const signed = `${header}.${base64url(claims)}`
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

/** What is held in memory of a valid token, as bytes to compare with. */
export const expectedToken = (key: Buffer, audience: string, record: TokenRecord): Buffer =>
  Buffer.from(mintAuthToken(key, audience, record))

/** Compares in constant time, and looks at every candidate whichever matches. Only the length shows, and it is no secret. */
export function isOneOf(presented: string, expected: readonly Buffer[]): boolean {
  const candidate = Buffer.from(presented)
  let found = false
  for (const token of expected) {
    if (token.length === candidate.length && timingSafeEqual(candidate, token)) found = true
  }
  return found
}
