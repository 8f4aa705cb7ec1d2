import type { Missing } from '../../crdt/updates/update-reader.ts'

/** How long updates wait for the ones that they build upon. */
const maxWaitMs = 2_000
const maxUpdates = 64
const maxBytes = 64 * 1024
/** An honest update waits for one or two others. Each attempt costs as much as an update that comes. */
const maxAttempts = 8

interface Held<T> {
  item: T
  since: number
  missing: Missing
  attempts: number
}

/**
 * A few updates that came before the ones that they build upon. Each is tried again only when what it lacks has arrived.
 * Everything in it may be dropped: its sender still has it.
 */
export class EarlyUpdates<T extends { update: Uint8Array }> {
  /** Those that still lack something. */
  readonly #waiting = new Set<Held<T>>()
  /** Those to try again. */
  readonly #ready = new Set<Held<T>>()
  #bytes = 0

  /** False if there is no room for it. */
  hold(item: T, missing: Missing, now = performance.now()): boolean {
    const { length } = item.update
    if (this.#waiting.size + this.#ready.size >= maxUpdates || this.#bytes + length > maxBytes) return false
    this.#waiting.add({ item, since: now, missing, attempts: 1 })
    this.#bytes += length
    return true
  }

  /** Whether there may be one to try again. */
  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  /** A client has gone on to that clock. */
  arrived(client: number, clock: number): void {
    for (const held of this.#waiting) {
      if (held.missing.client !== client || held.missing.clock > clock) continue
      this.#waiting.delete(held)
      this.#ready.add(held)
    }
  }

  /**
   * The next one to try again, if `mayTry` says so. It is not held any more, unless `holdAgain` is called: false if it was
   * tried too often.
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

  #holdAgain(held: Held<T>, missing: Missing): boolean {
    if (held.attempts === maxAttempts) return false
    this.#waiting.add({ ...held, missing, attempts: held.attempts + 1 })
    this.#bytes += held.item.update.length
    return true
  }

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
