interface Lease<T> {
  value: T
  holderCount: number
}

/** Values that several components share. The first holder opens a value; it is closed after the last holder released it. */
export class Leases<T extends { close(): void }> {
  readonly #leases = new Map<string, Lease<T>>()

  /** Returns the value while it is open. */
  peek(key: string): T | undefined {
    return this.#leases.get(key)?.value
  }

  /** Adds a holder, and opens the value for the first holder. Returns a function that removes the holder. */
  take(key: string, open: () => T): () => void {
    const lease = this.#leases.get(key) ?? { value: open(), holderCount: 0 }
    this.#leases.set(key, lease)
    lease.holderCount++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lease.holderCount--
      // Closes later, because a component releases the value before the component that replaces it takes the value.
      setTimeout(() => {
        if (lease.holderCount > 0 || this.#leases.get(key) !== lease) return
        this.#leases.delete(key)
        lease.value.close()
      }, 0)
    }
  }
}
