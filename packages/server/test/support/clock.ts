import { setImmediate as nextIteration } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'
import type { Clock } from '../../src/platform/clock.ts'

interface Timer {
  at: number
  every: number | undefined
  run: () => void
}

/** A clock that advances only when a test steps it. */
export class SteppedClock implements Clock {
  #now: number
  #elapsed = 0
  readonly #timers = new Set<Timer>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now = (): number => this.#now

  elapsed = (): number => this.#elapsed

  setTimeout = (run: () => void, ms: number) => this.#start({ at: this.#elapsed + ms, every: undefined, run })

  setInterval = (run: () => void, ms: number) => this.#start({ at: this.#elapsed + ms, every: ms, run })

  /** Timers that have not ended. */
  get pending(): number {
    return this.#timers.size
  }

  /** Runs the timers that are due within `ms`, in the order of their times, including timers that they start. */
  step(ms: number): void {
    const end = this.#elapsed + ms
    for (let next = this.#dueBefore(end); next; next = this.#dueBefore(end)) {
      this.#moveTo(next.at)
      if (next.every === undefined) this.#timers.delete(next)
      else next.at += next.every
      next.run()
    }
    this.#moveTo(end)
  }

  /** Advances without running timers, as if the process had been stopped. */
  jump(ms: number): void {
    this.#moveTo(this.#elapsed + ms)
  }

  #start(timer: Timer): () => void {
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  #dueBefore(end: number): Timer | undefined {
    const due = [...this.#timers].filter((timer) => timer.at <= end)
    return due.sort((a, b) => a.at - b.at)[0]
  }

  #moveTo(elapsed: number): void {
    this.#now += elapsed - this.#elapsed
    this.#elapsed = elapsed
  }
}

/**
 * Counts the seconds of the servers of this process, whose clocks have this speed, until the test ends. A timer counts, so a
 * busy machine delays it like the timers of the servers.
 */
export function countSeconds(speed: number): () => number {
  let seconds = 0
  const timer = setInterval(() => seconds++, 1000 / speed)
  onTestFinished(() => clearInterval(timer))
  return () => seconds
}

/**
 * Stops `performance.now` until the test ends, so that a slow machine is not late. Resolves at the start of an iteration of
 * the event loop. The returned function lets time pass.
 */
export async function stopTime(): Promise<(ms: number) => void> {
  // Connections of other tests are expected until then.
  let now = performance.now() + 1000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  // The iteration after a long one is late too.
  for (let iteration = 0; iteration < 3; iteration++) await nextIteration()
  return (ms) => void (now += ms)
}
