import { LoopTurns, untilLoopIsLate } from '../platform/loop-turns.ts'

/**
 * Starts requests as they arrive while the event loop has time. When it has been busy for long, requests wait before
 * anything is done for them, address by address in turn. A refusal takes 0.1 ms, and thousands can arrive together.
 */
export class Arrivals {
  readonly #turns = new LoopTurns(untilLoopIsLate)

  start(request: () => void, lane: () => string): void {
    if (this.#turns.isFree) request()
    else this.#turns.add(lane(), request)
  }
}
