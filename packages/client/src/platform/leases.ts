interface Lease<T> {
  value: T
  holders: number
}

/** What several components use together: opened for the first, closed after the last. */
export class Leases<T extends { close(): void }> {
  readonly #leases = new Map<string, Lease<T>>()

  peek(key: string): T | undefined {
    return this.#leases.get(key)?.value
  }

  /** Gives what ends the use. */
  take(key: string, open: () => T): () => void {
    const lease = this.#leases.get(key) ?? { value: open(), holders: 0 }
    this.#leases.set(key, lease)
    lease.holders++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lease.holders--
      // Not at once: a component that is replaced by another one leaves before that comes.
      setTimeout(() => {
        if (lease.holders > 0 || this.#leases.get(key) !== lease) return
        this.#leases.delete(key)
        lease.value.close()
      }, 0)
    }
  }
}
