import { RateLimiterMemory } from 'rate-limiter-flexible'

/** A rate limit for each key. The window of a key starts with its first call. */
export interface RateLimit {
  /** Counts one call. Returns 0 if it is allowed, otherwise the seconds to wait. */
  take(key: string): Promise<number>
  /** Counts calls that were allowed elsewhere. */
  add(key: string, calls: number): void
}

/** Allows `limit` calls in `windowSeconds`. Each server counts for itself. A limit of 0 allows all calls. */
export function createRateLimit(limit: number, windowSeconds: number): RateLimit {
  if (limit === 0) return { take: async () => 0, add: () => {} }
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
    add: (key, calls) => void limiter.penalty(key, calls),
  }
}
