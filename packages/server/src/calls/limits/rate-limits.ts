import { type Access, ApiError, type Operation } from '@plenum/protocol'
import type { Limits } from '../../config.ts'
import type { Peers } from '../../peers/peers.ts'
import { createSharedRateLimit } from '../../peers/shared-rate-limit.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { Callers } from '../call.ts'
import { AddressLimit, type AddressLimitDeps } from './address-limit.ts'

const exceeded = (message: string, retryAfterSeconds: number) =>
  new ApiError('RESOURCE_EXHAUSTED', message, { retryAfterSeconds })

interface RateLimitDeps extends AddressLimitDeps {
  limits: Limits
  peers: Peers
}

/** The rate limits of spec 0.7. They hold over all servers (spec B5). */
export function createRateLimits({ limits, peers, ...deps }: RateLimitDeps) {
  const addresses = new AddressLimit(deps)
  const ofAddresses = { createWorkspace: limits.createWorkspacePerHour, loginLinks: limits.loginLinksPerHour }
  const perMinute = (name: string, limit: number) =>
    createSharedRateLimit({ name, limit, windowSeconds: 60 }, { peers, clock: deps.clock })
  const workspace = perMinute('workspaces', limits.workspaceRequestsPerMinute)
  const apiKey = perMinute('API keys', limits.apiKeyRequestsPerMinute)
  const user = perMinute('users', limits.userRequestsPerMinute)

  return {
    /** Counts a call of a public operation, whether it succeeds or not. Throws above the limit of the client's address. */
    async checkAddress({ rateLimit, path }: Operation, address: string): Promise<void> {
      const limit = rateLimit ? ofAddresses[rateLimit] : 0
      const wait = limit > 0 ? await addresses.take(path, address, limit) : 0
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
    /** Counts a request that was sent with a user token. Throws above the limit of the user. */
    async checkUser({ apiKey }: ApiKey, userId: string): Promise<void> {
      const limit = limits.userRequestsPerMinute
      const wait = limit > 0 ? await user.take(JSON.stringify([apiKey, userId])) : 0
      if (wait)
        throw exceeded(`A user may send ${limit} requests a minute (LIMIT_USER_REQUESTS_PER_MINUTE).`, wait)
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>
