import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { checkOrigin } from './cors.ts'
import type { RateLimits } from '../calls/limits.ts'

export interface AdmissionDeps {
  config: Config
  rateLimits: RateLimits
  allowedDomains: (apiKey: string) => Promise<readonly string[]>
}

/** What counts for every request with good credentials of an API key: its rate, and the domain of the page. */
export function createAdmission({ config, rateLimits, allowedDomains }: AdmissionDeps) {
  return ({ origin, host }: IncomingHttpHeaders, caller: ApiKey): ApiKey | Promise<ApiKey> => {
    if (origin === undefined && !rateLimits.counts('apiKey')) return caller
    return (async () => {
      await rateLimits.caller('apiKey', caller)
      if (origin !== undefined) {
        checkOrigin({ origin, host }, config.publicOrigins, await allowedDomains(caller.apiKey))
      }
      return caller
    })()
  }
}
