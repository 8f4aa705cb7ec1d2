/** How much may be sent at once after a pause, as milliseconds of the steady rate. */
const burstMs = 1_000

/** Limits bytes per second: a burst, then a steady rate. Times are milliseconds that only increase. */
export class BytePace {
  readonly #bytesPerMs: number
  /** When everything sent so far would have been sent at the steady rate. */
  #paidUntil = 0

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000
  }

  /** How long to wait before more may be sent. */
  waitMs(now: number): number {
    return Math.max(0, this.#paidUntil - now - burstMs)
  }

  spend(bytes: number, now: number): void {
    this.#paidUntil = Math.max(this.#paidUntil, now) + bytes / this.#bytesPerMs
  }
}
