import { setImmediate as nextIteration } from 'node:timers/promises'
import { LazyMap } from '../../platform/lazy-collections.ts'
import type { Member } from './member.ts'

/** How long this work may hold the event loop before other work runs. */
const maxHoldMs = 8
/** Memory of an item besides the bytes of its update. An update can have as few as two bytes. */
const overheadBytes = 64

interface Item {
  bytes: number
  run: () => void
  from: Member | undefined
}

/** Work on updates that runs later, in the order in which it was added. */
export class PostponedWork {
  readonly #items: Item[] = []
  /** How many items that were added with a sender have not run yet. */
  readonly #senders = new LazyMap<Member, number>()
  #bytes = 0

  /** The memory of the updates whose work has not run yet. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether work that was added with this sender has not run yet. */
  has(from: Member): boolean {
    return this.#senders.has(from)
  }

  add(update: Uint8Array, run: () => void, from?: Member): void {
    const bytes = update.length + overheadBytes
    this.#items.push({ bytes, run, from })
    if (from) this.#senders.set(from, (this.#senders.get(from) ?? 0) + 1)
    this.#bytes += bytes
  }

  /**
   * Runs all work, including work that is added meanwhile. Waits while `obstacle` returns a promise. Stops when `mayContinue`
   * returns false. Calls `onEmpty` when no work is left, before any can be added.
   */
  async run(
    mayContinue: () => boolean,
    { obstacle, onEmpty }: { obstacle?: () => Promise<unknown> | undefined; onEmpty?: () => void } = {},
  ): Promise<void> {
    let startedAt = performance.now()
    while (this.#items.length > 0) {
      for (let waiting = obstacle?.(); waiting; waiting = obstacle?.()) await waiting
      const item = mayContinue() ? this.#items.shift() : undefined
      if (!item) return
      this.#remove(item)
      item.run()
      if (performance.now() - startedAt < maxHoldMs) continue
      await nextIteration()
      startedAt = performance.now()
    }
    onEmpty?.()
  }

  #remove({ bytes, from }: Item): void {
    this.#bytes -= bytes
    if (!from) return
    const left = (this.#senders.get(from) ?? 1) - 1
    if (left === 0) this.#senders.delete(from)
    else this.#senders.set(from, left)
  }
}
