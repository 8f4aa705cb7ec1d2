/** How long somebody who sent nothing may send as fast as it likes. */
const burstMs = 1_000

/** Bounds how many bytes go out on behalf of somebody: a burst, then a steady rate. Times are those of `performance.now()`. */
export class BytePace {
  readonly #bytesPerMs: number
  /** When everything that went out would have gone out at the steady rate. */
  #paidUntil = 0

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000
  }

  /** For how long nothing more may go out. */
  waitMs(now: number): number {
    return Math.max(0, this.#paidUntil - now - burstMs)
  }

  spend(bytes: number, now: number): void {
    this.#paidUntil = Math.max(this.#paidUntil, now) + bytes / this.#bytesPerMs
  }
}
