import type { IncomingHttpHeaders } from 'node:http'
import type { ApiKey } from '../../store/api-keys.ts'
import { matchesAny } from './auth-tokens.ts'
import type { Credentials } from './credentials.ts'

/** The value of a header. The values of a repeated header are joined by a comma, so the result cannot be a valid credential. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return (Array.isArray(value) ? value.join(',') : value) || undefined
}

/** The API key and the auth token in the headers of a request (spec 0.2), not verified. */
export const presentedCredentials = (headers: IncomingHttpHeaders) => ({
  id: headerOf(headers, 'x-svc-api-key'),
  token: headerOf(headers, 'x-svc-auth-token'),
})

/**
 * Returns the API key whose id and auth token the headers contain, or undefined if a header is missing or does not match.
 * Call it again when the credentials change: after Reset Auth Token the same headers no longer match (spec 1.7).
 */
export async function apiKeyOfBackend(
  credentials: Credentials,
  headers: IncomingHttpHeaders,
): Promise<ApiKey | undefined> {
  const { id, token } = presentedCredentials(headers)
  if (id === undefined || token === undefined) return undefined
  const known = await credentials.apiKey(id)
  return known && matchesAny(token, known.tokens) ? known.caller : undefined
}
