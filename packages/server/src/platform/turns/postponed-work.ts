import { setImmediate } from 'node:timers/promises'

/** How long the event loop may be held by it. */
const maxHoldMs = 8

/** What is done with updates later, in the order in which they came. */
export class PostponedWork {
  readonly #items: { bytes: number; run: () => void }[] = []
  #bytes = 0

  /** Of the updates that wait. */
  get bytes(): number {
    return this.#bytes
  }

  add(update: Uint8Array, run: () => void): void {
    this.#items.push({ bytes: update.length, run })
    this.#bytes += update.length
  }

  /** Also what is added meanwhile. */
  async run(mayGoOn: () => boolean): Promise<void> {
    let startedAt = performance.now()
    for (const { bytes, run } of this.#items) {
      if (!mayGoOn()) return
      run()
      this.#bytes -= bytes
      if (performance.now() - startedAt < maxHoldMs) continue
      await setImmediate()
      startedAt = performance.now()
    }
  }
}
