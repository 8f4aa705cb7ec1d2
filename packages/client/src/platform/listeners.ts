export type Unsubscribe = () => void

/** Functions that want to hear of something. */
export class Listeners<T> {
  readonly #entries = new Set<{ listener: (value: T) => void }>()

  add(listener: (value: T) => void): Unsubscribe {
    const entry = { listener }
    this.#entries.add(entry)
    return () => void this.#entries.delete(entry)
  }

  /** False if nobody listens. */
  emit(value: T): boolean {
    const hasListeners = this.#entries.size > 0
    for (const { listener } of Array.from(this.#entries)) {
      try {
        listener(value)
      } catch (error) {
        // The fault of one listener is reported as uncaught, but keeps nothing from the others or from the connection.
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
