import { isLoopLate } from '../platform/loop-time.ts'
import { LoopTurns } from '../platform/loop-turns.ts'

/**
 * Requests run as they come while the event loop has time. When it has been busy for long, they wait, and one begins in each
 * iteration of the loop, caller by caller in turn: many requests that arrive together do not hold the loop together.
 */
export class RequestTurns {
  readonly #turns = new LoopTurns()

  /** Undefined: the request can begin at once. */
  enter(caller: string): Promise<void> | undefined {
    return this.#turns.isIdle && !isLoopLate() ? undefined : this.#turns.wait(caller)
  }
}
