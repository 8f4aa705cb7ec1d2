interface Lease<T> {
  value: T
  holders: number
}

/** Values that several components share. The first holder opens a value; it is closed after the last one released it. */
export class Leases<T extends { close(): void }> {
  readonly #leases = new Map<string, Lease<T>>()

  /** The value, if it has a holder. */
  peek(key: string): T | undefined {
    return this.#leases.get(key)?.value
  }

  /** Adds a holder, and opens the value for the first one. Returns a function that releases it. */
  take(key: string, open: () => T): () => void {
    const lease = this.#leases.get(key) ?? { value: open(), holders: 0 }
    this.#leases.set(key, lease)
    lease.holders++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lease.holders--
      // Delayed, because a component releases the value before the component that replaces it takes it.
      setTimeout(() => {
        if (lease.holders > 0 || this.#leases.get(key) !== lease) return
        this.#leases.delete(key)
        lease.value.close()
      }, 0)
    }
  }
}
