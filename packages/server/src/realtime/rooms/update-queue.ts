/** What is stored and told at once: merging takes time, and to those who hear it, it is one transaction. */
const mostAtOnce = { updates: 500, bytes: 64 * 1024 }
/** What an update costs beside its bytes, which may be as few as two. */
const bytesAround = 64

interface Item {
  readonly update: Uint8Array
  /** Otherwise it waits only to be confirmed. */
  readonly isNews: boolean
}

/** The updates of a room that wait to be stored, in the order in which they came. */
export class UpdateQueue<T extends Item> {
  readonly #items: T[] = []
  #bytes = 0

  get first(): T | undefined {
    return this.#items[0]
  }

  get length(): number {
    return this.#items.length
  }

  /** What it takes to keep them. */
  get bytes(): number {
    return this.#bytes
  }

  push(item: T): void {
    this.#items.push(item)
    this.#bytes += item.update.length + bytesAround
  }

  /** Those that are taken next: at least one, however large it is. */
  next(): readonly T[] {
    if (this.#items.length <= 1) return this.#items
    let count = 0
    let bytes = 0
    for (const { update, isNews } of this.#items) {
      const more = isNews ? update.length : 0
      if (count > 0 && (count === mostAtOnce.updates || bytes + more > mostAtOnce.bytes)) break
      bytes += more
      count++
    }
    return this.#items.slice(0, count)
  }

  take(count = this.next().length): T[] {
    const taken = this.#items.splice(0, count)
    for (const { update } of taken) this.#bytes -= update.length + bytesAround
    return taken
  }

  /** They were taken and could not be stored: they come first again. */
  putBack(items: readonly T[]): void {
    this.#items.unshift(...items)
    for (const { update } of items) this.#bytes += update.length + bytesAround
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]()
  }
}
