import { createPrivateKey, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import type { Database } from '../../store/engine/db.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { sealContexts } from '../credentials/seal-contexts.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { userTokenSeconds, type VerifiedUser } from './token-claims.ts'
import { createTokenVerifier, maxTokenLength } from './token-verifier.ts'

export { TokenError, type TokenGrant, type VerifiedUser } from './token-claims.ts'

/** After this time a new key signs. The old key stays published until the last token that it signed has expired. */
const rotateAfterMs = 90 * 24 * 60 * 60 * 1000
const publishedAfterRotationMs = (userTokenSeconds + 60 * 60) * 1000

export interface UserClaims {
  apiKey: string
  userId: string
  userProperties: Record<string, unknown>
  permissions: {
    resources: readonly object[]
    /** The token opens only the documents in `resources`, with at most the role that it names there. */
    limited?: true
  }
  /** Default: 48 hours, the maximum. */
  validForSeconds?: number
}

export interface UserTokens {
  sign(claims: UserClaims, now: number): Promise<string>
  /** Returns the user of a valid token that this server issued. Throws `TokenError` for any other token. */
  verify(token: string, now: number): Promise<VerifiedUser>
  /** The public keys, for services that verify tokens themselves. */
  jwks(now: number): Promise<{ keys: JWK[] }>
  /**
   * Returns false if the newest signing key was sealed with another `SECRET_KEY`. Creates the first key, so that later
   * starts can check.
   */
  matchesSecretKey(now: number): Promise<boolean>
}

/** A signing key, ready to sign. */
interface Signer {
  keyId: string
  privateKey: KeyObject
  createdAt: number
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs on the event loop: to pass the signature to a thread and back, as `jose` does, takes as long as to compute it. */
function signJwt({ keyId, privateKey }: Signer, claims: object): string {
  const signed = `${base64url({ alg: 'ES256', kid: keyId, typ: 'JWT' })}.${base64url(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

export async function newSigningKey(secrets: Secrets, now: number): Promise<signingKeys.SigningKey> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keyId = randomUUID()
  const privateJwk = JSON.stringify(await exportJWK(pair.privateKey))
  return {
    keyId,
    publicJwk: await exportJWK(pair.publicKey),
    privateJwk: secrets.seal(privateJwk, sealContexts.signingKey(keyId)),
    createdAt: now,
  }
}

/**
 * User tokens: JWTs signed with ES256 (spec 7.1). The private keys are sealed in the database, so all servers sign with the
 * same key.
 */
export function createUserTokens(
  database: Pick<Database, 'read' | 'write' | 'lock'>,
  secrets: Secrets,
): UserTokens {
  let signer: Promise<Signer> | undefined
  const verify = createTokenVerifier(database, {
    keyLifeMs: rotateAfterMs + publishedAfterRotationMs,
  })

  const open = async ({ keyId, privateJwk, createdAt }: signingKeys.SigningKey): Promise<Signer> => {
    const jwk = JSON.parse(secrets.unseal(privateJwk, sealContexts.signingKey(keyId)).toString()) as JWK
    return { keyId, privateKey: createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' }), createdAt }
  }

  const newestOrNew = async (now: number): Promise<Signer> => {
    const isFresh = (key: signingKeys.SigningKey | undefined) => key && now - key.createdAt < rotateAfterMs
    const newest = await signingKeys.newest(database.read)
    if (newest && isFresh(newest)) return open(newest)
    const candidate = await newSigningKey(secrets, now)
    // If several servers need a new key at the same time, the first one to get the lock adds it for all.
    const agreed = await database.write(async (db) => {
      await database.lock(db, 'signing_keys')
      const other = await signingKeys.newest(db)
      if (other && isFresh(other)) return other
      await signingKeys.add(db, candidate)
      return candidate
    })
    return open(agreed)
  }

  const renew = (now: number): Promise<Signer> => {
    const renewed = newestOrNew(now)
    // A failure is not kept, because otherwise no token could be signed until the server restarts.
    renewed.catch(() => {
      if (signer === renewed) signer = undefined
    })
    return (signer = renewed)
  }

  return {
    async sign({ apiKey, userId, userProperties, permissions, validForSeconds = userTokenSeconds }, now) {
      let current = await (signer ?? renew(now))
      if (now - current.createdAt >= rotateAfterMs) current = await renew(now)
      const issuedAt = Math.floor(now / 1000)
      const token = signJwt(current, {
        // `iat` is in seconds, but to compare a token with changes of grants needs milliseconds (spec 25.3).
        issuedAtMs: now,
        userProperties,
        permissions,
        iss: 'svc',
        aud: apiKey,
        sub: userId,
        iat: issuedAt,
        exp: issuedAt + Math.min(validForSeconds, userTokenSeconds),
        jti: randomUUID(),
      })
      if (token.length > maxTokenLength) {
        throw new ApiError('INVALID_ARGUMENT', 'userProperties and permissions are too large for a token.')
      }
      return token
    },
    verify,
    async matchesSecretKey(now) {
      const newest = await signingKeys.newest(database.read)
      if (!newest) {
        await renew(now)
        return true
      }
      return open(newest).then(
        () => true,
        () => false,
      )
    },
    async jwks(now) {
      await (signer ?? renew(now))
      const keys = await signingKeys.all(database.read)
      return {
        keys: keys
          .filter((_, index) => {
            const successor = keys[index - 1]
            return !successor || now - successor.createdAt < publishedAfterRotationMs
          })
          .map(({ keyId, publicJwk }) => ({ ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' })),
      }
    },
  }
}
