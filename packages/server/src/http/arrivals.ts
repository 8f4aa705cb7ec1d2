import { isLoopLate } from '../platform/loop-time.ts'
import { LaneQueue } from '../platform/lane-queue.ts'

/** Milliseconds of one iteration of the event loop for requests that had to wait. What they await runs after that. */
const maxMsPerIteration = 2

/**
 * Starts requests as they arrive while the event loop has time. When it has been busy for long, requests wait before
 * anything is done for them, address by address in turn. A refusal takes 0.1 ms, and thousands can arrive together.
 */
export class Arrivals {
  readonly #waiting = new LaneQueue<() => void>()

  start(request: () => void, lane: () => string): void {
    const isIdle = this.#waiting.isEmpty
    if (isIdle && !isLoopLate()) return request()
    this.#waiting.add(lane(), request)
    if (isIdle) setImmediate(() => this.#next())
  }

  #next(): void {
    const endAt = performance.now() + maxMsPerIteration
    do this.#waiting.take()?.()
    while (!this.#waiting.isEmpty && performance.now() < endAt)
    if (!this.#waiting.isEmpty) setImmediate(() => this.#next())
  }
}
