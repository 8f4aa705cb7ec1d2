import type { Clock } from '../../platform/clock.ts'

/** Spaces deliveries to an endpoint that accepts only some in a second. Those that come too early wait their turn. */
export class SendRates {
  readonly #clock: Clock
  /** When the next delivery to an endpoint may begin, on the clock that never goes back. */
  readonly #next = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the delivery may begin. Rejects with the reason of the signal if that is aborted before. */
  async wait(endpoint: string, perSecond: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const now = this.#clock.elapsed()
    for (const [key, at] of this.#next) if (at <= now) this.#next.delete(key)
    const at = this.#next.get(endpoint) ?? now
    this.#next.set(endpoint, at + 1000 / perSecond)
    if (at <= now) return
    await new Promise<void>((onTurn, onAborted) => {
      const stop = this.#clock.setTimeout(() => {
        signal.removeEventListener('abort', onAbort)
        onTurn()
      }, at - now)
      const onAbort = () => {
        stop()
        onAborted(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
