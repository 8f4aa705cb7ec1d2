import * as Y from 'yjs'

/** Merging costs the square of their number; from here on, the document itself gives the difference cheaper. */
const mostMerged = 32

/** Local changes that are not sent yet. */
export class OutgoingUpdates {
  readonly #doc: Y.Doc
  #updates: Uint8Array[] = []
  /** The state before the first of them. */
  #since: Map<number, number> | undefined
  #count = 0

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  add(update: Uint8Array, before: Map<number, number>): void {
    this.#since ??= before
    this.#count++
    if (this.#count <= mostMerged) this.#updates.push(update)
    else this.#updates = []
  }

  /** All as one update; more only where one would be larger than allowed. */
  take(mostBytes: number): Uint8Array[] {
    const updates = this.#updates
    const since = this.#since
    const count = this.#count
    this.clear()
    if (count === 0 || !since) return []
    if (count > mostMerged) return [Y.encodeStateAsUpdate(this.#doc, Y.encodeStateVector(since))]
    const merged = Y.mergeUpdates(updates)
    return merged.length <= mostBytes ? [merged] : updates
  }

  clear(): void {
    this.#updates = []
    this.#since = undefined
    this.#count = 0
  }
}
