interface PendingUpdate {
  number: number
  outcome: 'saved' | 'refused' | undefined
}

/**
 * Decides which updates of one client are acknowledged. `saved` with a number covers all updates with smaller numbers that
 * were not refused.
 */
export class Receipts {
  readonly #pending: PendingUpdate[] = []
  #newest = -1

  /** Adds an update. Returns false if its number is not larger than all numbers before. */
  expect(number: number): boolean {
    if (number <= this.#newest) return false
    this.#newest = number
    this.#pending.push({ number, outcome: undefined })
    return true
  }

  settle(number: number, outcome: 'saved' | 'refused'): void {
    const pending = this.#pending[this.#indexOf(number)]
    if (pending?.number === number) pending.outcome = outcome
  }

  /** The index of the first pending number that is not smaller. A binary search, because thousands may be pending. */
  #indexOf(number: number): number {
    let low = 0
    let high = this.#pending.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#pending[middle] as PendingUpdate).number < number) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns the newest saved number that follows no unsettled number. Undefined if there is none since the last call. */
  takeSaved(): number | undefined {
    const unsettled = this.#pending.findIndex(({ outcome }) => outcome === undefined)
    const settled = this.#pending.splice(0, unsettled < 0 ? this.#pending.length : unsettled)
    return settled.findLast(({ outcome }) => outcome === 'saved')?.number
  }
}
