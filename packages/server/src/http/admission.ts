import type { IncomingHttpHeaders } from 'node:http'
import type { RateLimits } from '../calls/rate-limits.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { checkOrigin } from './cors.ts'

interface AdmissionDeps {
  publicOrigins: readonly string[]
  rateLimits: RateLimits
  allowedDomains: (apiKey: string) => Promise<readonly string[]>
}

/** Checks an authenticated request of an API key: its rate limit, and the domain of the page that sent it. */
export type Admission = (headers: IncomingHttpHeaders, caller: ApiKey) => ApiKey | Promise<ApiKey>

/** Answers without a promise when there is nothing to wait for. */
export function createAdmission({ publicOrigins, rateLimits, allowedDomains }: AdmissionDeps): Admission {
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
