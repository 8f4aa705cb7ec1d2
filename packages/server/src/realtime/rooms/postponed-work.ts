import { setImmediate as nextIteration } from 'node:timers/promises'
import { LazyMap } from '../../platform/lazy-collections.ts'
import type { Member } from './member.ts'

/** How long this work may hold the event loop before other work runs. */
const maxHoldMs = 8
/** Memory of an item besides the bytes of its update. An update can have as few as two bytes. */
const overheadBytes = 64

interface Item {
  bytes: number
  from: Member
  run: () => void
}

/** Work on updates that runs later, in the order in which it was added. */
export class PostponedWork {
  readonly #items: Item[] = []
  /** How many items of each sender have not run yet. */
  readonly #senders = new LazyMap<Member, number>()
  #bytes = 0

  /** The memory of the updates whose work has not run yet. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether work on an update of the sender has not run yet. */
  has(from: Member): boolean {
    return this.#senders.has(from)
  }

  add(update: Uint8Array, from: Member, run: () => void): void {
    const bytes = update.length + overheadBytes
    this.#items.push({ bytes, from, run })
    this.#senders.set(from, (this.#senders.get(from) ?? 0) + 1)
    this.#bytes += bytes
  }

  /** Runs all work, including work that is added meanwhile. Stops when `mayContinue` returns false. */
  async run(mayContinue: () => boolean): Promise<void> {
    let startedAt = performance.now()
    for (const item of this.#items) {
      if (!mayContinue()) return
      this.#remove(item)
      item.run()
      if (performance.now() - startedAt < maxHoldMs) continue
      await nextIteration()
      startedAt = performance.now()
    }
  }

  #remove({ bytes, from }: Item): void {
    this.#bytes -= bytes
    const left = (this.#senders.get(from) ?? 1) - 1
    if (left === 0) this.#senders.delete(from)
    else this.#senders.set(from, left)
  }
}
