import { Retry } from './retry.ts'
import { Waiters } from './waiters.ts'

/** Runs a load until it succeeds, and once more if it was requested meanwhile. At most one runs at a time. */
export class Reloads {
  readonly #load: () => Promise<void>
  readonly #mayRetry: (error: unknown) => boolean
  readonly #retry = new Retry(() => void this.#run())
  readonly #waiters = new Waiters()
  #isRunning = false
  #isRequested = false
  #isStopped = false

  /** `mayRetry`: whether a load that failed for this reason is tried again, after a delay. */
  constructor(load: () => Promise<void>, mayRetry: (error: unknown) => boolean) {
    this.#load = load
    this.#mayRetry = mayRetry
  }

  /** Resolves when a load that began after this call has succeeded, or has failed for good. */
  request(): Promise<void> {
    this.#isStopped = false
    this.#isRequested = true
    const done = this.#waiters.promise()
    if (!this.#retry.isScheduled) void this.#run()
    return done
  }

  /** Does not wait any longer for the next retry, if there is one. */
  retryNow(): void {
    if (this.#retry.isScheduled) this.#retry.runNow()
  }

  stop(): void {
    this.#isStopped = true
    this.#isRequested = false
    this.#retry.reset()
    this.#waiters.resolve()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#isRequested && !this.#retry.isScheduled) {
      this.#isRequested = false
      try {
        await this.#load()
        this.#retry.markSuccess()
      } catch (error) {
        if (this.#isStopped || !this.#mayRetry(error)) continue
        this.#isRequested = true
        this.#retry.schedule()
      }
    }
    this.#isRunning = false
    if (!this.#isRequested) this.#waiters.resolve()
  }
}
