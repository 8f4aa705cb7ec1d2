const firstMs = 200
const longestMs = 30_000
/** Success that lasted so long ends a series of failures. One that is cut at once does not, or it would be a storm. */
const steadyMs = 10_000

/** Runs something again: soon after the first failure, then rarer, and at another moment than all other clients. */
export class Retry {
  readonly #run: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #succeededAt: number | undefined

  constructor(run: () => void) {
    this.#run = run
  }

  get waiting(): boolean {
    return this.#timer !== undefined
  }

  succeeded(): void {
    this.#succeededAt = Date.now()
  }

  /** Whether the last success lasted. */
  get wasSteady(): boolean {
    return this.#succeededAt !== undefined && Date.now() - this.#succeededAt >= steadyMs
  }

  /** After a delay that is drawn from all up to a bound, which doubles with each failure. */
  later(): void {
    if (this.waiting) return
    if (this.wasSteady) this.#failures = 0
    this.#succeededAt = undefined
    this.after(Math.random() * Math.min(longestMs, firstMs * 2 ** this.#failures++))
  }

  after(ms: number): void {
    this.cancel()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#run()
    }, ms)
  }

  now(): void {
    this.cancel()
    this.#run()
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  reset(): void {
    this.cancel()
    this.#failures = 0
    this.#succeededAt = undefined
  }
}
