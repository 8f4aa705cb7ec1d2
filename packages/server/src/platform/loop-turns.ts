import { LaneQueue } from './lane-queue.ts'

/** Lets one of those who wait go on in each iteration of the event loop, lane by lane in turn. */
export class LoopTurns {
  readonly #waiting = new LaneQueue<() => void>()

  /** Whether nobody waits. */
  get isIdle(): boolean {
    return this.#waiting.isEmpty
  }

  wait(lane: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.isIdle) setImmediate(() => this.#next())
      this.#waiting.add(lane, resolve)
    })
  }

  #next(): void {
    this.#waiting.take()?.()
    if (!this.isIdle) setImmediate(() => this.#next())
  }
}
