import { hash } from 'node:crypto'
import { decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../store/engine/db.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { readClaims, TokenError, type VerifiedUser } from './token-claims.ts'

/**
 * The maximum length of a token that is issued or accepted. 500 resources with ids of 256 letters take 420,000 characters,
 * which leaves room for the properties of the user. Most tokens have less than 1,000.
 */
export const maxTokenLength = 512 * 1024

/** A header, claims, and a signature of 64 bytes. The headers that this server writes have about 110 characters. */
const tokenPattern = /^[\w-]{1,256}\.[\w-]+\.[\w-]{86}$/

/** Tokens with an unknown key id make the server read the signing keys again, but not more often than this. */
const minReloadMs = 1000

/** What a verified user takes besides the claims. */
const entryBytes = 700

interface PublicKey {
  key: CryptoKey
  createdAt: number
}

/** Creates a verifier of user tokens. A token cannot choose the algorithm, the key or where the key comes from. */
export function createTokenVerifier(
  database: Pick<Database, 'read'>,
  /** `keyLifeMs`: a signing key that is older verifies nothing, because all tokens that it signed have expired. */
  { keyLifeMs }: { keyLifeMs: number },
): (token: string, now: number) => Promise<VerifiedUser> {
  const findKey = createKeyTable(database)
  /**
   * Users by the digest of their token. So clients that reconnect skip the signature check, and expired tokens are still
   * recognized as expired.
   */
  const verified = new LRUCache<string, VerifiedUser>({
    maxSize: 32 * maxTokenLength + 20_000 * entryBytes,
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
      verified.set(digest, user, { size: token.length + entryBytes })
    }
    if (user.expiresAt <= Math.floor(now / 1000)) throw expired()
    return user
  }
}

const invalid = (message: string) => new TokenError('token_invalid', message)
const expired = () => new TokenError('token_expired', 'The token has expired.')

/**
 * Returns the key id in the header, or undefined if this server does not write such headers. Keys and URLs in a header are
 * never used.
 */
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

/** Creates a function that finds a public key by its id. The keys are cached in memory. */
function createKeyTable(
  database: Pick<Database, 'read'>,
): (keyId: string, now: number) => Promise<PublicKey | undefined> {
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
    // Set only after a successful read: while the database is unavailable, valid tokens must not be refused as invalid.
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
