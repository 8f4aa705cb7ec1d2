import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Rate limit by key. The window of a key starts with its first call. */
export interface RateLimit {
  /** Counts one call. Returns 0, or the seconds to wait if the call exceeds the limit. */
  take(key: string): Promise<number>
}

/** Allows `limit` calls in `windowSeconds`, counted in this process. A limit of 0 allows all. */
export function createRateLimit(limit: number, windowSeconds: number): RateLimit {
  if (limit === 0) return { take: async () => 0 }
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds })
  return {
    async take(key) {
      try {
        await limiter.consume(key)
        return 0
      } catch (rejected) {
        return Math.max(1, Math.ceil((rejected as { msBeforeNext: number }).msBeforeNext / 1000))
      }
    },
  }
}
