import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@plenum/protocol'
import { matchesAny } from '../../access/credentials/auth-tokens.ts'
import type { Credentials } from '../../access/credentials/credentials.ts'
import { headerOf } from '../../access/credentials/backend-credentials.ts'
import { claimedApiKey } from '../../access/tokens/token-claims.ts'
import { TokenError, type UserTokens, type VerifiedUser } from '../../access/tokens/user-tokens.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ApiKey } from '../../store/api-keys.ts'

/** The owner of a bearer token. An auth token of an API key belongs to a backend, a user token to a user. */
export interface Bearer {
  key: ApiKey
  user: VerifiedUser | 'backend'
}

const unauthenticated = (message: string) => new ApiError('UNAUTHENTICATED', message)

/** Creates a check of the header `Authorization`. Both kinds of tokens contain their API key, so callers need not send it. */
export function createBearerCheck(credentials: Credentials, userTokens: UserTokens, clock: Clock) {
  return async (headers: IncomingHttpHeaders): Promise<Bearer> => {
    const [, token] = /^Bearer +(\S+)$/i.exec(headerOf(headers, 'authorization') ?? '') ?? []
    if (token === undefined) throw unauthenticated('Bearer token not found in the header Authorization.')
    const known = await credentials.apiKey(claimedApiKey(token))
    if (!known) throw unauthenticated('Invalid bearer token.')
    if (matchesAny(token, known.tokens)) return { key: known.caller, user: 'backend' }
    const user = await userTokens.verify(token, clock.now()).catch((error: unknown) => {
      throw error instanceof TokenError ? unauthenticated(`${error.code}: ${error.message}`) : error
    })
    return { key: known.caller, user }
  }
}
