// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface ApiKeyReference {
  /** Id of the API key. */
  apiKey: string
}

export interface ApiKeyAuthTokens {
  /** Id of the API key. */
  apiKey: string
  /** The auth tokens of the API key. */
  authTokens: AuthToken[]
}

export interface NewAuthToken {
  /** Id of the API key. */
  apiKey: string
  /** The new auth token. The previous one is no longer accepted. */
  newAuthToken: AuthToken
}

export interface AuthToken {
  /** Secret that is sent as `x-svc-auth-token`. */
  token: string
  /** Display name of the token. */
  name: string
  /** The domains whose pages may use the API key. */
  domains: string[]
}

export type AuthTokensGetInput = ApiKeyReference

export type AuthTokensResetInput = ApiKeyReference

/** The secret that you send with an API key. */
export interface AuthTokensOperations {
  /**
   * Reads the auth tokens of an API key.
   *
   * `POST /v2/workspace/authtokens/get`
   */
  get(input: AuthTokensGetInput, options?: CallOptions): Promise<Result<ApiKeyAuthTokens>>
  /**
   * Replaces the auth token of an API key. The old token stops working immediately. User tokens that were
   * issued before stay valid until they expire.
   *
   * `POST /v2/workspace/authtoken/reset`
   */
  reset(input: AuthTokensResetInput, options?: CallOptions): Promise<Result<NewAuthToken>>
}
