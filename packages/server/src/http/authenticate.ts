import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@plenum/protocol'
import { matchesAny } from '../access/credentials/auth-tokens.ts'
import type { Credentials, KnownCaller } from '../access/credentials/credentials.ts'
import { headerOf, presentedCredentials } from '../access/credentials/backend-credentials.ts'
import type { Callers } from '../calls/call.ts'
import type { ApiKey } from '../store/api-keys.ts'

const invalid = (message: string) => new ApiError('INVALID_ARGUMENT', message)
const invalidApiKey = () => new ApiError('PERMISSION_DENIED', 'Invalid API key.')

/** For operations that only backends can call. */
const userTokenRefused =
  'This operation does not accept the token of a user. Send x-svc-api-key and x-svc-auth-token instead.'

/** Finds the caller of a request by its credentials. Checks these in the order of spec 0.2 and throws the first failure. */
export function createAuthenticator(credentials: Credentials) {
  const accept = (known: KnownCaller<ApiKey> | undefined, token: string): ApiKey => {
    if (!known) throw invalidApiKey()
    if (!matchesAny(token, known.tokens)) throw new ApiError('UNAUTHENTICATED', 'Invalid auth token.')
    return known.caller
  }

  /** Returns the caller without a promise if the API key is cached. On SQLite, the first request of a key caches it. */
  function apiKey(headers: IncomingHttpHeaders): ApiKey | Promise<ApiKey> {
    const { id, token } = presentedCredentials(headers)
    if (!token && headers.authorization) throw invalid(userTokenRefused)
    if (!token) throw invalid('Auth Token not found in headers.')
    if (!id) throw invalid('API key not found in headers.')
    const known = credentials.peek(id)
    if (known) return accept(known, token)
    return credentials.apiKey(id).then((found) => accept(found, token))
  }

  async function workspace(headers: IncomingHttpHeaders, path: string): Promise<Callers['workspace']> {
    const workspaceId = headerOf(headers, 'x-svc-workspace-id')
    if (!workspaceId) throw invalid('Workspace ID not found in headers.')
    const token = headerOf(headers, 'x-svc-auth-token') ?? headerOf(headers, 'x-svc-workspace-auth-token')
    if (!token) throw invalid('Auth Token not found in headers.')
    const known = await credentials.workspace(workspaceId)
    if (known && matchesAny(token, known.tokens)) return known.caller
    if (path !== '/workspace/get') throw new ApiError('PERMISSION_DENIED', 'Invalid workspace credentials.')
    if (!known) throw new ApiError('NOT_FOUND', 'Workspace not found.')
    throw new ApiError('UNAUTHENTICATED', 'Invalid auth token for workspace.')
  }

  /** For credentials inside `data`. Those that `data` lacks may be in the headers (spec 7.2, 11). */
  async function body(data: unknown, headers: IncomingHttpHeaders): Promise<ApiKey> {
    const { apiKey, authToken } = (data ?? {}) as { apiKey?: unknown; authToken?: unknown }
    const presented = presentedCredentials(headers)
    const id = typeof apiKey === 'string' && apiKey ? apiKey : presented.id
    const token = typeof authToken === 'string' && authToken ? authToken : presented.token
    if (!token) throw invalid('Auth token not found.')
    if (!id) throw invalid('API key not found.')
    return accept(await credentials.apiKey(id), token)
  }

  return { apiKey, workspace, body }
}

export type Authenticator = ReturnType<typeof createAuthenticator>
