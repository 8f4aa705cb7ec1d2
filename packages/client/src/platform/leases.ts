interface Lease<T> {
  value: T
  holderCount: number
  /** Called after the value was closed. */
  onClosed: (() => void) | undefined
}

/**
 * Values that several components share. The first holder opens a value. It is closed after the last holder released it, but
 * not before it is done.
 */
export class Leases<T extends { close(): void }> {
  readonly #leases = new Map<string, Lease<T>>()
  readonly #whenDone: (value: T) => Promise<unknown> | undefined

  /**
   * `whenDone` returns undefined if the value can be closed now. After the promise, it is asked again. If the promise is
   * rejected, the value will never be done, and is closed.
   */
  constructor(whenDone: (value: T) => Promise<unknown> | undefined = () => undefined) {
    this.#whenDone = whenDone
  }

  /** Returns the value while it is open. */
  peek(key: string): T | undefined {
    return this.#leases.get(key)?.value
  }

  /**
   * Adds a holder, and opens the value for the first holder. Returns a function that removes the holder. `hold` is called when
   * the value is opened, and what it returns is called when the value is closed.
   */
  take(key: string, open: () => T, hold?: () => () => void): () => void {
    const lease = this.#leases.get(key) ?? { value: open(), holderCount: 0, onClosed: hold?.() }
    this.#leases.set(key, lease)
    lease.holderCount++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      lease.holderCount--
      // Closes later, because a component releases the value before the component that replaces it takes the value.
      setTimeout(() => this.#closeUnused(key, lease, true), 0)
    }
  }

  #closeUnused(key: string, lease: Lease<T>, waits: boolean): void {
    if (lease.holderCount > 0 || this.#leases.get(key) !== lease) return
    const done = waits ? this.#whenDone(lease.value) : undefined
    if (done) {
      return void done.then(
        () => this.#closeUnused(key, lease, true),
        () => this.#closeUnused(key, lease, false),
      )
    }
    this.#leases.delete(key)
    lease.value.close()
    lease.onClosed?.()
  }
}
