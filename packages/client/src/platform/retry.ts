const defaultDelays = { firstMs: 200, maxMs: 30_000 }
/**
 * A success that lasted this long resets the delay. A shorter one does not: otherwise a connection that is always cut at
 * once would be retried several times a second.
 */
const steadyMs = 10_000

/** Retries an action with exponential backoff. Delays are random, so that clients do not all retry at the same moment. */
export class Retry {
  readonly #run: () => void
  readonly #delays: { firstMs: number; maxMs: number }
  #timer: ReturnType<typeof setTimeout> | undefined
  #failureCount = 0
  #succeededAt: number | undefined

  constructor(run: () => void, delays = defaultDelays) {
    this.#run = run
    this.#delays = delays
  }

  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  markSuccess(): void {
    this.#succeededAt = Date.now()
  }

  /** Whether the last success lasted at least `steadyMs`. */
  get wasSteady(): boolean {
    return this.#succeededAt !== undefined && Date.now() - this.#succeededAt >= steadyMs
  }

  /**
   * Runs the action after a random delay, whose upper bound doubles with each failure. Does nothing if a run is scheduled
   * already.
   */
  schedule(): void {
    if (this.isScheduled) return
    if (this.wasSteady) this.#failureCount = 0
    this.#succeededAt = undefined
    const { firstMs, maxMs } = this.#delays
    this.runAfter(Math.random() * Math.min(maxMs, firstMs * 2 ** this.#failureCount++))
  }

  runAfter(delayMs: number): void {
    this.cancel()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#run()
    }, delayMs)
  }

  runNow(): void {
    this.cancel()
    this.#run()
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Cancels a scheduled run. The next delay is the shortest one again. */
  reset(): void {
    this.cancel()
    this.#failureCount = 0
    this.#succeededAt = undefined
  }
}
