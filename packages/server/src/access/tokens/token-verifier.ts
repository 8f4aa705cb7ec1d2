import { hash } from 'node:crypto'
import { decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../store/engine/db.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { readClaims, TokenError, type VerifiedUser } from './token-claims.ts'

/**
 * Characters of the longest token that is issued or accepted: 500 resources with ids of 256 letters take 420,000, and
 * leave room for properties of the user. Most tokens have less than 1,000.
 */
export const maxTokenLength = 512 * 1024

/** Header, claims and the 64 bytes of a signature. Headers that this server writes have about 110 characters. */
const tokenPattern = /^[\w-]{1,256}\.[\w-]+\.[\w-]{86}$/

/** The shortest interval at which tokens with an unknown key id make the server read the keys again. */
const minReloadMs = 1000

interface PublicKey {
  key: CryptoKey
  createdAt: number
}

/** Verifies user tokens. A token cannot choose the algorithm, the key or where the key comes from. */
export function createTokenVerifier(
  database: Database,
  /** All tokens that an older key signed have expired. */
  { keyLifeMs }: { keyLifeMs: number },
): (token: string, now: number) => Promise<VerifiedUser> {
  const findKey = createKeyTable(database)
  /** By digest. Reconnecting clients skip the signature check, and expired tokens are still recognized as expired. */
  const verified = new LRUCache<string, VerifiedUser>({
    max: 20_000,
    maxSize: 32 * maxTokenLength,
    maxEntrySize: maxTokenLength,
  })

  return async (token, now) => {
    if (token.length > maxTokenLength) throw invalid('The token is too long.')
    const digest = hash('sha256', token, 'base64')
    let user = verified.get(digest)
    if (!user) {
      const keyId = keyIdOf(token)
      const found = keyId === undefined ? undefined : await findKey(keyId, now)
      if (!found || now - found.createdAt >= keyLifeMs) {
        throw invalid('The token was not issued by this server.')
      }
      user = readClaims(await claimsOf(token, found.key, now))
      if (!user) throw invalid('The token has claims that this server does not issue.')
      verified.set(digest, user, { size: token.length })
    }
    if (user.expiresAt <= Math.floor(now / 1000)) throw expired()
    return user
  }
}

const invalid = (message: string) => new TokenError('token_invalid', message)
const expired = () => new TokenError('token_expired', 'The token has expired.')

/** Undefined unless the header is exactly what this server writes: it never uses a key or a URL from a header. */
function keyIdOf(token: string): string | undefined {
  if (!tokenPattern.test(token)) return undefined
  try {
    const { alg, kid, typ, ...others } = decodeProtectedHeader(token)
    const isOurs = alg === 'ES256' && typ === 'JWT' && Object.keys(others).length === 0
    return isOurs && typeof kid === 'string' ? kid : undefined
  } catch {
    return undefined
  }
}

async function claimsOf(token: string, key: CryptoKey, now: number): Promise<JWTPayload> {
  try {
    const expected = { algorithms: ['ES256'], issuer: 'svc', typ: 'JWT', currentDate: new Date(now) }
    return (await jwtVerify(token, key, expected)).payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired()
    throw invalid('The token was not issued by this server.')
  }
}

/** The public keys by id, cached in memory. */
function createKeyTable(database: Database): (keyId: string, now: number) => Promise<PublicKey | undefined> {
  let keys = new Map<string, PublicKey>()
  let readAt: number | undefined
  let reading: Promise<void> | undefined

  const read = async (now: number): Promise<void> => {
    const stored = await signingKeys.all(database.read)
    keys = new Map(
      await Promise.all(
        stored.map(async ({ keyId, publicJwk, createdAt }) => {
          const key = (await importJWK(publicJwk, 'ES256')) as CryptoKey
          return [keyId, { key, createdAt }] as const
        }),
      ),
    )
    // Set only after a successful read: while the database is unavailable, valid tokens must not be refused as unknown.
    readAt = now
  }

  return async (keyId, now) => {
    const known = keys.get(keyId)
    if (known || (readAt !== undefined && Math.abs(now - readAt) < minReloadMs)) return known
    reading ??= read(now).finally(() => (reading = undefined))
    await reading
    return keys.get(keyId)
  }
}
