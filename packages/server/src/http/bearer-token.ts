import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@plenum/protocol'
import { headerOf } from '../access/credentials/backend-credentials.ts'
import { TokenError, type UserTokens, type VerifiedUser } from '../access/tokens/user-tokens.ts'

/** The token in the header `Authorization`. Undefined: the header is missing or has another form. */
export const bearerTokenOf = (headers: IncomingHttpHeaders): string | undefined =>
  /^Bearer +(\S+)$/i.exec(headerOf(headers, 'authorization') ?? '')?.[1]

export const unauthenticated = (message: string) => new ApiError('UNAUTHENTICATED', message)

/** Verifies the token of a user. Throws `UNAUTHENTICATED` with the code and the message of the refusal. */
export async function verifyUserToken(
  userTokens: UserTokens,
  token: string,
  now: number,
): Promise<VerifiedUser> {
  return userTokens.verify(token, now).catch((error: unknown) => {
    throw error instanceof TokenError ? unauthenticated(`${error.code}: ${error.message}`) : error
  })
}
