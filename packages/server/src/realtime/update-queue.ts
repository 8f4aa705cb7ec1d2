/** What is stored and told at once: merging takes time, and to those who hear it, it is one transaction. */
const mostAtOnce = { updates: 500, bytes: 64 * 1024 }

interface Item {
  readonly update: Uint8Array
  /** Otherwise it waits only to be confirmed. */
  readonly isNews: boolean
}

/** The updates of a room that wait to be stored, in the order in which they came. */
export class UpdateQueue<T extends Item> {
  readonly #items: T[] = []
  #bytes = 0

  get length(): number {
    return this.#items.length
  }

  /** Of what is to be stored. */
  get bytes(): number {
    return this.#bytes
  }

  push(item: T): void {
    this.#items.push(item)
    this.#bytes += bytesOf(item)
  }

  /** The first of them; at least one, however large it is. */
  take(): T[] {
    let count = 0
    let bytes = 0
    for (const item of this.#items) {
      const isFull = count === mostAtOnce.updates || bytes + bytesOf(item) > mostAtOnce.bytes
      if (count > 0 && isFull) break
      bytes += bytesOf(item)
      count++
    }
    this.#bytes -= bytes
    return this.#items.splice(0, count)
  }
}

const bytesOf = ({ update, isNews }: Item) => (isNews ? update.length : 0)
