/**
 * Runs the same work again and again, one run after the other. A caller gets a run that begins after the call, and shares it with
 * all callers until it begins.
 */
export class SharedRuns {
  readonly #work: () => Promise<void>
  #latest: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #running = 0

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#next === undefined
  }

  run(): Promise<void> {
    this.#next ??= this.#latest
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        this.#running++
        this.#latest = this.#work().finally(() => this.#running--)
        return this.#latest
      })
    return this.#next
  }
}
