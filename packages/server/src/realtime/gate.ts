import { LaneQueue } from '../platform/lane-queue.ts'

/** Lets so many in at a time; the others wait, lane by lane, for as long as it takes. */
export class Gate {
  readonly #waiting = new LaneQueue<() => void>()
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async pass<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.add(lane, resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.take()
      // On SQLite nothing else would have its turn before all of them are through.
      if (next) setImmediate(next)
      else this.#free++
    }
  }
}
