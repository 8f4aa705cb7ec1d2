import { LoopTurns, untilLoopIsLate } from '../../platform/turns/loop-turns.ts'

/**
 * Requests run as they come while the event loop has time. When it has been busy for long, they wait for its next iteration,
 * and begin caller by caller in turn for as long as that has time: many requests that arrive together do not hold the loop
 * together.
 */
export class RequestTurns {
  readonly #turns = new LoopTurns(untilLoopIsLate)

  /** Undefined: the request can begin at once. */
  enter(caller: string): Promise<void> | undefined {
    return this.#turns.isFree ? undefined : this.#turns.wait(caller)
  }
}
