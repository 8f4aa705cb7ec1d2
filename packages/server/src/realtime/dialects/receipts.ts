interface Pending {
  number: number
  outcome: 'saved' | 'refused' | undefined
}

/** The updates of one client that are not settled, so that `saved` of one speaks for all before it. */
export class Receipts {
  readonly #pending: Pending[] = []
  #newest = -1

  /** False if the number is not larger than all before it. */
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

  /** Of the first that is not below the number: thousands may be pending. */
  #indexOf(number: number): number {
    let low = 0
    let high = this.#pending.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#pending[middle] as Pending).number < number) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The newest that is saved with nothing unsettled before it; undefined if that is no news. */
  takeSaved(): number | undefined {
    const unsettled = this.#pending.findIndex(({ outcome }) => outcome === undefined)
    const settled = this.#pending.splice(0, unsettled < 0 ? this.#pending.length : unsettled)
    return settled.findLast(({ outcome }) => outcome === 'saved')?.number
  }
}
