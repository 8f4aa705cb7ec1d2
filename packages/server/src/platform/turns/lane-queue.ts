import { LazyMap } from '../lazy-collections.ts'

/** A queue that takes from its lanes in turn, so that one crowded lane does not delay the others. */
export class LaneQueue<T> {
  /** The waiting items of each lane. The lane whose turn is next comes first. */
  readonly #lanes = new LazyMap<string, T[]>()

  get isEmpty(): boolean {
    return this.#lanes.size === 0
  }

  add(lane: string, item: T): void {
    const waiting = this.#lanes.get(lane)
    if (waiting) waiting.push(item)
    else this.#lanes.set(lane, [item])
  }

  take(): T | undefined {
    for (const [lane, waiting] of this.#lanes) {
      const item = waiting.shift()
      this.#lanes.delete(lane)
      if (waiting.length > 0) this.#lanes.set(lane, waiting)
      return item
    }
    return undefined
  }
}
