/** Out-of-order updates of one client that may wait for its sync step 2. */
const maxUpdates = 10_000

/**
 * Updates of a client that depend on an update that only the client has. They are settled together with the next sync step 2
 * that the client sends after them, because it contains them too.
 */
export class OutOfOrderUpdates {
  #arrivals = 0
  #waiting: { arrival: number; number: number }[] = []

  /** Call it when an update arrives. */
  nextArrival(): number {
    return ++this.#arrivals
  }

  /** Returns false if too many updates wait. */
  add(arrival: number, number: number): boolean {
    if (this.#waiting.length >= maxUpdates) return false
    this.#waiting.push({ arrival, number })
    return true
  }

  /** Removes the updates that arrived before this one, and returns their numbers. */
  takeBefore(arrival: number): number[] {
    if (this.#waiting.length === 0) return []
    const taken = this.#waiting.filter((one) => one.arrival < arrival)
    this.#waiting = this.#waiting.filter((one) => one.arrival > arrival)
    return taken.map(({ number }) => number)
  }
}
