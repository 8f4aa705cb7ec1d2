import { isLoopLate } from '../platform/loop-time.ts'

/**
 * Requests run as they come while the event loop has time. When it has been busy for long, they wait, and one begins in each
 * iteration of the loop, caller by caller in turn: many requests that arrive together do not hold the loop together.
 */
export class RequestTurns {
  /** By caller, the requests that wait. The caller whose turn it is comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Undefined: the request can begin at once. */
  enter(caller: string): Promise<void> | undefined {
    if (this.#waiting.size === 0 && !isLoopLate()) return undefined
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(caller)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(caller, [resolve])
      if (this.#waiting.size === 1 && !waiting) setImmediate(() => this.#begin())
    })
  }

  #begin(): void {
    for (const [caller, waiting] of this.#waiting) {
      const begin = waiting.shift()
      this.#waiting.delete(caller)
      if (waiting.length > 0) this.#waiting.set(caller, waiting)
      begin?.()
      break
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#begin())
  }
}
