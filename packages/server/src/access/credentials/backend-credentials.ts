import type { IncomingHttpHeaders } from 'node:http'
import type { ApiKey } from '../../store/api-keys.ts'
import { matchesAny } from './auth-tokens.ts'
import type { Credentials } from './credentials.ts'

/** A header's value. A repeated header is joined, so it cannot be a valid credential. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return (Array.isArray(value) ? value.join(',') : value) || undefined
}

/** The credentials in the headers of a request (spec 0.2), not verified. */
export const presentedCredentials = (headers: IncomingHttpHeaders) => ({
  id: headerOf(headers, 'x-svc-api-key'),
  token: headerOf(headers, 'x-svc-auth-token'),
})

/**
 * The API key whose credentials a backend connects with. Undefined: a header is missing or does not match. Check again when
 * access changes: after Reset Auth Token the same headers no longer match (spec 1.7).
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
