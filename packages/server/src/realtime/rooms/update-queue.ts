/** What one tick merges and stores of a room. Clients apply it as one transaction. */
const maxUpdatesPerBatch = 500
const maxBytesPerBatch = 64 * 1024
/** The memory of a queued update beside its bytes, which can be as few as two. */
const overheadBytes = 64

interface Item {
  readonly update: Uint8Array
  /** Without changes, the update only waits to be acknowledged. */
  readonly hasChanges: boolean
}

/** The updates of a room that wait to be stored, in the order of their arrival. */
export class UpdateQueue<T extends Item> {
  readonly #items: T[] = []
  #bytes = 0

  get first(): T | undefined {
    return this.#items[0]
  }

  get length(): number {
    return this.#items.length
  }

  /** The memory that the queue takes. */
  get bytes(): number {
    return this.#bytes
  }

  push(item: T): void {
    this.#items.push(item)
    this.#bytes += item.update.length + overheadBytes
  }

  /** The updates of the next batch: at least one, however large it is. */
  next(): readonly T[] {
    if (this.#items.length <= 1) return this.#items
    let count = 0
    let bytes = 0
    for (const { update, hasChanges } of this.#items) {
      const more = hasChanges ? update.length : 0
      if (count > 0 && (count === maxUpdatesPerBatch || bytes + more > maxBytesPerBatch)) break
      bytes += more
      count++
    }
    return this.#items.slice(0, count)
  }

  take(count = this.next().length): T[] {
    const taken = this.#items.splice(0, count)
    for (const { update } of taken) this.#bytes -= update.length + overheadBytes
    return taken
  }

  /** Puts updates that were taken but not stored at the front. */
  putBack(items: readonly T[]): void {
    this.#items.unshift(...items)
    for (const { update } of items) this.#bytes += update.length + overheadBytes
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]()
  }
}
