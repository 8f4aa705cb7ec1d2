import { LazySet } from '../../platform/lazy-collections.ts'
import type { Missing } from '../../crdt/updates/fault.ts'

/** How long an update waits for the updates that it depends on. */
const maxWaitMs = 2_000
const maxUpdates = 64
const maxBytes = 64 * 1024
/** An honest update waits for one or two other updates. Each attempt costs as much as a new update. */
const maxAttempts = 8

interface HeldUpdate<T> {
  item: T
  /** When the update arrived, by `performance.now()`. */
  since: number
  missing: Missing
  attempts: number
}

/**
 * A few updates that arrived before the updates that they depend on. Each is retried only when its missing update has
 * arrived. The buffer may drop any update, because the sender still has it.
 */
export class OutOfOrderBuffer<T extends { update: Uint8Array }> {
  /** Updates whose missing update has not arrived. */
  readonly #waiting = new LazySet<HeldUpdate<T>>()
  /** Updates to retry. */
  readonly #ready = new LazySet<HeldUpdate<T>>()
  #bytes = 0

  /** Returns false, and does not hold the update, if the buffer is full. */
  hold(item: T, missing: Missing, now = performance.now()): boolean {
    const { length } = item.update
    if (this.#waiting.size + this.#ready.size >= maxUpdates || this.#bytes + length > maxBytes) return false
    this.#waiting.add({ item, since: now, missing, attempts: 1 })
    this.#bytes += length
    return true
  }

  get isEmpty(): boolean {
    return this.#waiting.size + this.#ready.size === 0
  }

  /** Whether an update can be retried. */
  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  /** Call it when the next clock of a Yjs client id has become `clock`. */
  onClockAdvanced(clientId: number, clock: number): void {
    for (const held of this.#waiting) {
      if (held.missing.client !== clientId || held.missing.clock > clock) continue
      this.#waiting.delete(held)
      this.#ready.add(held)
    }
  }

  /**
   * Removes and returns the next update to retry for which `mayTry` is true. `holdAgain` puts the update back, or returns
   * false if it was tried too often.
   */
  takeReady(mayTry: (item: T) => boolean): { item: T; holdAgain(missing: Missing): boolean } | undefined {
    for (const held of this.#ready) {
      if (!mayTry(held.item)) continue
      this.#ready.delete(held)
      this.#bytes -= held.item.update.length
      return { item: held.item, holdAgain: (missing) => this.#holdAgain(held, missing) }
    }
    return undefined
  }

  #holdAgain(held: HeldUpdate<T>, missing: Missing): boolean {
    if (held.attempts === maxAttempts) return false
    this.#waiting.add({ ...held, missing, attempts: held.attempts + 1 })
    this.#bytes += held.item.update.length
    return true
  }

  /** Removes and returns the updates that have waited too long. */
  takeExpired(now = performance.now()): T[] {
    const expired: T[] = []
    for (const some of [this.#waiting, this.#ready]) {
      for (const held of some) {
        if (now - held.since <= maxWaitMs) continue
        some.delete(held)
        this.#bytes -= held.item.update.length
        expired.push(held.item)
      }
    }
    return expired
  }
}
