/** Ends a subscription. Calling it again does nothing. */
export type Unsubscribe = () => void

/** The listeners of one event. */
export class Listeners<T> {
  readonly #entries = new Set<{ listener: (value: T) => void }>()

  /** A function that is added twice is called twice. */
  add(listener: (value: T) => void): Unsubscribe {
    const entry = { listener }
    this.#entries.add(entry)
    return () => void this.#entries.delete(entry)
  }

  /** Calls all listeners. Returns whether there is a listener. */
  emit(value: T): boolean {
    const hasListeners = this.#entries.size > 0
    for (const { listener } of Array.from(this.#entries)) {
      try {
        listener(value)
      } catch (error) {
        // Reported as an uncaught error. The other listeners and the connection are not affected.
        queueMicrotask(() => {
          throw error
        })
      }
    }
    return hasListeners
  }

  clear(): void {
    this.#entries.clear()
  }
}
