import type { IncomingHttpHeaders } from 'node:http'
import type { RateLimits } from '../calls/limits/rate-limits.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { checkOrigin } from './cors.ts'

interface ApiKeyCheckDeps {
  publicOrigins: readonly string[]
  rateLimits: RateLimits
  allowedDomains: (apiKey: string) => Promise<readonly string[]>
}

/**
 * Checks a request after its API key was authenticated: the rate limit of the API key, and the domain of the page that sent
 * the request. Returns the caller without a promise if neither needs a check, which saves time for most requests.
 */
export type ApiKeyCheck = (headers: IncomingHttpHeaders, caller: ApiKey) => ApiKey | Promise<ApiKey>

export function createApiKeyCheck(deps: ApiKeyCheckDeps): ApiKeyCheck {
  const { publicOrigins, rateLimits, allowedDomains } = deps
  return ({ origin, host }, caller) => {
    if (origin === undefined && !rateLimits.isLimited('apiKey')) return caller
    return (async () => {
      await rateLimits.checkCaller('apiKey', caller)
      if (origin !== undefined) {
        checkOrigin({ origin, host }, publicOrigins, await allowedDomains(caller.apiKey))
      }
      return caller
    })()
  }
}
