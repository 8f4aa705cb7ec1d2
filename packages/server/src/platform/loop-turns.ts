import { LaneQueue } from './lane-queue.ts'

/**
 * Lets those who wait go on lane by lane in turn: in each iteration of the event loop one of them, and more for as long as
 * `msPerIteration`.
 */
export class LoopTurns {
  readonly #waiting = new LaneQueue<() => void>()
  readonly #msPerIteration: number

  constructor(msPerIteration = 0) {
    this.#msPerIteration = msPerIteration
  }

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return this.#waiting.isEmpty
  }

  wait(lane: string): Promise<void> {
    return new Promise((resolve) => this.add(lane, resolve))
  }

  /** Does the work when it is its turn. */
  add(lane: string, work: () => void): void {
    if (this.isIdle) setImmediate(() => this.#next())
    this.#waiting.add(lane, work)
  }

  #next(): void {
    const endAt = performance.now() + this.#msPerIteration
    do this.#waiting.take()?.()
    while (!this.isIdle && performance.now() < endAt)
    if (!this.isIdle) setImmediate(() => this.#next())
  }
}
