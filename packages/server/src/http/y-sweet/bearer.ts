import type { IncomingHttpHeaders } from 'node:http'
import { matchesAny } from '../../access/credentials/auth-tokens.ts'
import type { Credentials } from '../../access/credentials/credentials.ts'
import { claimedApiKey } from '../../access/tokens/token-claims.ts'
import type { UserTokens, VerifiedUser } from '../../access/tokens/user-tokens.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { bearerTokenOf, unauthenticated, verifyUserToken } from '../bearer-token.ts'

/** The owner of a bearer token. An auth token of an API key belongs to a backend, a user token to a user. */
export interface Bearer {
  key: ApiKey
  user: VerifiedUser | 'backend'
}

/** Creates a check of the header `Authorization`. Both kinds of tokens contain their API key, so callers need not send it. */
export function createBearerCheck(credentials: Credentials, userTokens: UserTokens, clock: Clock) {
  return async (headers: IncomingHttpHeaders): Promise<Bearer> => {
    const token = bearerTokenOf(headers)
    if (token === undefined) throw unauthenticated('Bearer token not found in the header Authorization.')
    const known = await credentials.apiKey(claimedApiKey(token))
    if (!known) throw unauthenticated('Invalid bearer token.')
    if (matchesAny(token, known.tokens)) return { key: known.caller, user: 'backend' }
    return { key: known.caller, user: await verifyUserToken(userTokens, token, clock.now()) }
  }
}
