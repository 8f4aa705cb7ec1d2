/** Stops a timer. Calling it again, or after the timer fired, has no effect. */
export type StopTimer = () => void

/**
 * The time and timers. Code that waits gets a clock as an argument, so that a test can step the clock instead of waiting.
 * Timers of the system clock do not keep the process alive.
 */
export interface Clock {
  /** The time of day, in Unix milliseconds. */
  now(): number
  /** Milliseconds that never decrease, for durations. */
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
