import type { IncomingHttpHeaders } from 'node:http'
import type { ApiKey } from '../store/api-keys.ts'
import { isOneOf } from './tokens/auth-tokens.ts'
import type { Credentials } from './credentials.ts'

/** A header that was sent several times is joined, and so is no credential. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return (Array.isArray(value) ? value.join(',') : value) || undefined
}

/** The credentials of an API key, as the headers of a request carry them (spec 0.2). */
export const presentedBy = (headers: IncomingHttpHeaders) => ({
  id: headerOf(headers, 'x-svc-api-key'),
  token: headerOf(headers, 'x-svc-auth-token'),
})

/**
 * The API key whose credentials a backend connects with; undefined unless both headers are there and fit. Ask again
 * when access changes: after Reset Auth Token the same headers fit no more (spec 1.7).
 */
export async function identifyServer(
  credentials: Credentials,
  headers: IncomingHttpHeaders,
): Promise<ApiKey | undefined> {
  const { id, token } = presentedBy(headers)
  if (id === undefined || token === undefined) return undefined
  const known = await credentials.apiKey(id)
  return known && isOneOf(token, known.tokens) ? known.caller : undefined
}
