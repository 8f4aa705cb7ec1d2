/** Promises that are kept or broken together. */
export class Waiting {
  #all: { resolve: () => void; reject: (error: Error) => void }[] = []

  promise(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => void this.#all.push({ resolve, reject }))
    // Nobody has to wait for it.
    promise.catch(() => {})
    return promise
  }

  resolve(): void {
    for (const { resolve } of this.#all.splice(0)) resolve()
  }

  reject(error: Error): void {
    for (const { reject } of this.#all.splice(0)) reject(error)
  }
}
