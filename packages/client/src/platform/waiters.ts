interface Waiter {
  resolve: () => void
  reject: (error: Error) => void
}

/** Promises that are settled together. */
export class Waiters {
  #waiters: Waiter[] = []

  promise(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => void this.#waiters.push({ resolve, reject }))
    // A caller that ignores the promise must not cause an unhandled rejection.
    promise.catch(() => {})
    return promise
  }

  resolve(): void {
    for (const { resolve } of this.#waiters.splice(0)) resolve()
  }

  reject(error: Error): void {
    for (const { reject } of this.#waiters.splice(0)) reject(error)
  }
}
