import { type Access, ApiError, type Operation } from '@plenum/protocol'
import type { Limits } from '../../config.ts'
import { createRateLimit } from '../../platform/rate-limit.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Callers } from '../call.ts'

const exceeded = (message: string, retryAfterSeconds: number) =>
  new ApiError('RESOURCE_EXHAUSTED', message, { retryAfterSeconds })

/** The rate limits of spec 0.7. */
export function createRateLimits(limits: Limits) {
  const ofAddresses = {
    createWorkspace: createRateLimit(limits.createWorkspacePerHour, 3600),
    loginLinks: createRateLimit(limits.loginLinksPerHour, 3600),
  }
  const workspace = createRateLimit(limits.workspaceRequestsPerMinute, 60)
  const apiKey = createRateLimit(limits.apiKeyRequestsPerMinute, 60)

  return {
    /** Counts a call of a public operation, whether it succeeds or not. Throws above the limit of the client's address. */
    async checkAddress({ rateLimit, path }: Operation, address: string): Promise<void> {
      const wait = rateLimit ? await ofAddresses[rateLimit].take(`${path} ${address}`) : 0
      if (wait) throw exceeded('Rate limit exceeded for this endpoint. Try again later.', wait)
    },
    /** Whether callers of this access level have a limit. */
    isLimited: (access: Access) =>
      access === 'workspace' ? limits.workspaceRequestsPerMinute > 0 : limits.apiKeyRequestsPerMinute > 0,
    /** Counts a request of the workspace or the API key. Throws above its limit. */
    async checkCaller(access: Access, caller: Callers[Access]): Promise<void> {
      const wait =
        access === 'workspace'
          ? await workspace.take((caller as Callers['workspace']).workspaceId)
          : await apiKey.take((caller as ApiKey).apiKey)
      if (wait) throw exceeded('Rate limit exceeded. Try again after 1 minute.', wait)
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>
