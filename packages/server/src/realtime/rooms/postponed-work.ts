import { setImmediate as nextIteration } from 'node:timers/promises'

/** How long this work may hold the event loop before other work runs. */
const maxHoldMs = 8

/** Work on updates that runs later, in the order in which it was added. */
export class PostponedWork {
  readonly #items: { bytes: number; run: () => void }[] = []
  #bytes = 0

  /** Bytes of the updates whose work has not run yet. */
  get bytes(): number {
    return this.#bytes
  }

  add(update: Uint8Array, run: () => void): void {
    this.#items.push({ bytes: update.length, run })
    this.#bytes += update.length
  }

  /** Runs all work, including work that is added meanwhile. Stops when `mayContinue` returns false. */
  async run(mayContinue: () => boolean): Promise<void> {
    let startedAt = performance.now()
    for (const { bytes, run } of this.#items) {
      if (!mayContinue()) return
      run()
      this.#bytes -= bytes
      if (performance.now() - startedAt < maxHoldMs) continue
      await nextIteration()
      startedAt = performance.now()
    }
  }
}
