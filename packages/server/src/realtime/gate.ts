/**
 * Lets so many in at a time; the others wait, for as long as it takes. Whoever stands alone in a lane is not kept waiting by
 * those who crowd in another one.
 */
export class Gate {
  /** Who waits, by lane. The lane whose turn it is comes first. */
  readonly #lanes = new Map<string, (() => void)[]>()
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async pass<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn(lane)
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #turn(lane: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#lanes.get(lane)
      if (waiting) waiting.push(resolve)
      else this.#lanes.set(lane, [resolve])
    })
  }

  #next(): void {
    for (const [lane, waiting] of this.#lanes) {
      const next = waiting.shift()
      this.#lanes.delete(lane)
      if (waiting.length > 0) this.#lanes.set(lane, waiting)
      // On SQLite nothing else would have its turn before all of them are through.
      if (next) setImmediate(next)
      return
    }
    this.#free++
  }
}
