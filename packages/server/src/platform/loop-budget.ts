/** Milliseconds of small work in one turn of the event loop. One piece more may be begun. */
const maxMs = 10

/** Small work is cheaper on the event loop than in a thread, but many small pieces in a row hold it as long as a large one. */
export class LoopBudget {
  #spentMs = 0

  get isSpent(): boolean {
    return this.#spentMs >= maxMs
  }

  spend<T>(work: () => T): T {
    // Another turn begins when everything has run that is ready now.
    if (this.#spentMs === 0) setImmediate(() => (this.#spentMs = 0))
    const startedAt = performance.now()
    try {
      return work()
    } finally {
      this.#spentMs += performance.now() - startedAt
    }
  }
}
