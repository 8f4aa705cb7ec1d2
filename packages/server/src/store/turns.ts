/** One after the other, in the order of asking. */
export class Turns {
  #taken = false
  readonly #waiting: (() => void)[] = []

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#taken = false
    }
  }
}
