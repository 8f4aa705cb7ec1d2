import type { Clock } from '../clock.ts'
import { ThreadTimeout } from './thread.ts'

/** How many contents are remembered. Beyond that, the oldest is dropped. */
const maxContents = 1_000

/**
 * Remembers the contents on which work recently ran into its time limit. The same work would take as long again, so it is
 * refused for a while.
 */
export class RefusedContents {
  readonly #refuseMs: number
  readonly #clock: Clock
  /** When work on each content may be tried again, in the order in which the work failed. */
  readonly #until = new Map<string, number>()

  constructor(refuseMs: number, clock: Clock) {
    this.#refuseMs = refuseMs
    this.#clock = clock
  }

  add(content: string): void {
    this.#until.delete(content)
    this.#until.set(content, this.#clock.elapsed() + this.#refuseMs)
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= maxContents) break
      this.#until.delete(oldest)
    }
  }

  /** Returns why work on the content is refused now, or undefined if it is not. */
  reasonFor(content: string): ThreadTimeout | undefined {
    const until = this.#until.get(content)
    if (until === undefined) return undefined
    const now = this.#clock.elapsed()
    if (now < until) {
      const seconds = Math.ceil((until - now) / 1000)
      return new ThreadTimeout(`The same work took too long. Try again in ${seconds} s.`)
    }
    this.#until.delete(content)
    return undefined
  }
}
