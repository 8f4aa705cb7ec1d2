import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Counts calls by key within a window that begins with the first one. */
export interface Counter {
  /** Counts one call; the seconds to wait when it was one too many, otherwise 0. */
  take(key: string): Promise<number>
}

/** `limit` calls in `windowSeconds`; a limit of 0 refuses none. */
export function memoryCounter(limit: number, windowSeconds: number): Counter {
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
