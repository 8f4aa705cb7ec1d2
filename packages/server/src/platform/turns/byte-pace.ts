/** After a pause, as many bytes may be sent at once as the steady rate sends in this time. */
const burstMs = 1_000

/** Limits bytes per second: a burst, then a steady rate. `now` is a time in milliseconds that only increases. */
export class BytePace {
  readonly #bytesPerSecond: number
  /** When the bytes sent so far would have been sent, had they been sent at the steady rate. */
  #paidUntil = 0

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Returns how long to wait before more may be sent. */
  waitMs(now: number): number {
    return Math.max(0, this.#paidUntil - now - burstMs)
  }

  /** Counts bytes that were sent. */
  spend(bytes: number, now: number): void {
    this.#paidUntil = Math.max(this.#paidUntil, now) + (bytes / this.#bytesPerSecond) * 1_000
  }
}
