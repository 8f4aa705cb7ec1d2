import * as Y from 'yjs'

/**
 * The cost of merging grows with the square of the number of updates. Above this number it is cheaper to compute the
 * difference from the document itself.
 */
const maxMergedUpdates = 32

/** Local changes that were not sent yet. */
export class OutgoingUpdates {
  readonly #doc: Y.Doc
  #updates: Uint8Array[] = []
  /** The state of the document before the first of these changes. */
  #stateBefore: Map<number, number> | undefined
  #count = 0

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  add(update: Uint8Array, stateBefore: Map<number, number>): void {
    this.#stateBefore ??= stateBefore
    this.#count++
    if (this.#count <= maxMergedUpdates) this.#updates.push(update)
    else this.#updates = []
  }

  /**
   * Removes and returns all changes as one update. Returns several if one would be larger than `maxBytes` and there are at
   * most `maxMergedUpdates` changes.
   */
  take(maxBytes: number): Uint8Array[] {
    const updates = this.#updates
    const stateBefore = this.#stateBefore
    const count = this.#count
    this.clear()
    if (count === 0 || !stateBefore) return []
    if (count > maxMergedUpdates) {
      return [Y.encodeStateAsUpdate(this.#doc, Y.encodeStateVector(stateBefore))]
    }
    const merged = Y.mergeUpdates(updates)
    return merged.length <= maxBytes ? [merged] : updates
  }

  clear(): void {
    this.#updates = []
    this.#stateBefore = undefined
    this.#count = 0
  }
}
