import { LaneQueue } from '../platform/lane-queue.ts'
import { isLoopLate } from '../platform/loop-time.ts'

/**
 * Requests run as they come while the event loop has time. When it has been busy for long, they wait, and one begins in each
 * iteration of the loop, caller by caller in turn: many requests that arrive together do not hold the loop together.
 */
export class RequestTurns {
  readonly #waiting = new LaneQueue<() => void>()

  /** Undefined: the request can begin at once. */
  enter(caller: string): Promise<void> | undefined {
    if (this.#waiting.isEmpty && !isLoopLate()) return undefined
    return new Promise((resolve) => {
      if (this.#waiting.isEmpty) setImmediate(() => this.#begin())
      this.#waiting.add(caller, resolve)
    })
  }

  #begin(): void {
    this.#waiting.take()?.()
    if (!this.#waiting.isEmpty) setImmediate(() => this.#begin())
  }
}
