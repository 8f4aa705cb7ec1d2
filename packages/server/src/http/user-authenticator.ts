import type { IncomingHttpHeaders } from 'node:http'
import { headerOf } from '../access/credentials/backend-credentials.ts'
import type { Credentials } from '../access/credentials/credentials.ts'
import { signIn } from '../access/sessions/sign-in.ts'
import { membershipMessages } from '../access/sessions/membership-messages.ts'
import type { VerifiedUser } from '../access/tokens/token-claims.ts'
import type { UserTokens } from '../access/tokens/user-tokens.ts'
import type { Callers } from '../calls/call.ts'
import type { Services } from '../calls/services.ts'
import type { Clock } from '../platform/clock.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database, Db } from '../store/engine/db.ts'
import { bearerTokenOf, unauthenticated, verifyUserToken } from './bearer-token.ts'

/** Finds the user whose token is in the header `Authorization`. Throws `UNAUTHENTICATED`. */
export type UserAuthenticator = (headers: IncomingHttpHeaders) => Promise<Callers['user']>

interface UserAuthenticatorDeps {
  credentials: Credentials
  userTokens: UserTokens
  database: Database
  clock: Clock
  /** Tells open sessions that the user became a member of an organization of the token. */
  signals: Services['signals']
}

/** Signing in again sooner would find nothing new. */
const minSignInIntervalMs = 60_000

/** The credentials of a backend win, so that a proxy may add an `Authorization` header. */
export const hasUserToken = (headers: IncomingHttpHeaders): boolean =>
  headers['x-svc-auth-token'] === undefined && headers.authorization !== undefined

/** Authenticates the users of REST calls. The first call of a user signs the user in, as a socket does (spec 7.1). */
export function createUserAuthenticator(deps: UserAuthenticatorDeps): UserAuthenticator {
  const { credentials, userTokens, database, clock, signals } = deps
  /** The verifier returns the same object for the same token, as long as it remembers the token. */
  const signedInAt = new WeakMap<VerifiedUser, number>()

  const signInOnce = async (key: ApiKey, user: VerifiedUser, now: number) => {
    if (now - (signedInAt.get(user) ?? -Infinity) < minSignInIntervalMs) return
    const { apiKey } = key
    const changed = membershipMessages(apiKey, user)
    const store = (db: Db) => signals.store(db, changed)
    const { hasChangedAccess } = await signIn(database, key, user, now, store)
    signedInAt.set(user, now)
    if (hasChangedAccess) signals.publish(changed)
  }

  return async (headers) => {
    const token = bearerTokenOf(headers)
    if (token === undefined)
      throw unauthenticated('The header Authorization must be "Bearer" and a user token.')
    const now = clock.now()
    const user = await verifyUserToken(userTokens, token, now)
    const known = await credentials.apiKey(user.apiKey)
    if (!known) throw unauthenticated('token_invalid: There is no such API key.')
    const apiKey = headerOf(headers, 'x-svc-api-key')
    if (apiKey !== undefined && apiKey !== user.apiKey) {
      throw unauthenticated('token_invalid: The token belongs to another API key.')
    }
    await signInOnce(known.caller, user, now)
    const { userId, name, isAdmin, resources, isLimited } = user
    return { ...known.caller, user: { userId, name, isAdmin, session: { userId, resources, isLimited } } }
  }
}
