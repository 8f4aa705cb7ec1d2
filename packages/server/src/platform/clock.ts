/** Stops a timer. Calling it again, or after the timer fired, has no effect. */
export type StopTimer = () => void

/**
 * Time, passed to everything that waits, so that a test steps it instead of waiting. A process never stays alive for a
 * timer of this clock.
 */
export interface Clock {
  /** The time of day, in Unix milliseconds. */
  now(): number
  /** Milliseconds that only ever increase, for durations. */
  elapsed(): number
  setTimeout(run: () => void, ms: number): StopTimer
  setInterval(run: () => void, ms: number): StopTimer
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
  setInterval(run, ms) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
}
