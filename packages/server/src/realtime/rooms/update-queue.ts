import { LazySet } from '../../platform/lazy-collections.ts'

/** Limits of the updates that one tick merges and stores for a room. Clients apply the merge as one transaction. */
const maxUpdatesPerBatch = 500
const maxBytesPerBatch = 64 * 1024
/** Memory of a queued update besides its bytes. An update can have as few as two bytes. */
const overheadBytes = 64

interface Item {
  readonly update: Uint8Array
  /** False for an update that only waits to be acknowledged. */
  readonly hasChanges: boolean
}

/** The updates of a room that wait to be stored, in the order of their arrival, and those that are being stored. */
export class UpdateQueue<T extends Item> {
  readonly #items: T[] = []
  /** Updates that were taken from the queue, until `settle` or `putBack`. */
  readonly #taken = new LazySet<readonly T[]>()
  #bytes = 0

  get first(): T | undefined {
    return this.#items[0]
  }

  get length(): number {
    return this.#items.length
  }

  /** Whether updates that were taken are not settled yet. */
  get hasTaken(): boolean {
    return this.#taken.size > 0
  }

  /** The memory that the queue takes. */
  get bytes(): number {
    return this.#bytes
  }

  push(item: T): void {
    this.#items.push(item)
    this.#bytes += item.update.length + overheadBytes
  }

  /** Returns the updates of the next batch: at least one update, however large it is, if any waits. */
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

  /** Removes and returns the first updates. Default: the next batch. Call `settle` or `putBack` with them later. */
  take(count = this.next().length): readonly T[] {
    const taken = this.#items.splice(0, count)
    for (const { update } of taken) this.#bytes -= update.length + overheadBytes
    this.#taken.add(taken)
    return taken
  }

  /** These updates, which were taken together, are stored or refused. */
  settle(taken: readonly T[]): void {
    this.#taken.delete(taken)
  }

  /** Puts back to the front updates that were taken but not stored. */
  putBack(taken: readonly T[]): void {
    this.#taken.delete(taken)
    this.#items.unshift(...taken)
    for (const { update } of taken) this.#bytes += update.length + overheadBytes
  }

  /** Whether the condition holds for an update that waits or is being stored. */
  hasUnsettled(condition: (item: T) => boolean): boolean {
    return [this.#items, ...this.#taken].some((items) => items.some(condition))
  }

  /** The bytes of the updates with changes that wait or are being stored. */
  *unsettledChanges(): Generator<Uint8Array> {
    for (const items of [this.#items, ...this.#taken])
      for (const { hasChanges, update } of items) if (hasChanges) yield update
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]()
  }
}
