/** Updates that came before what they build upon are kept so long, and so many: each is tried again whenever one arrives. */
const keptMs = 2_000
const mostUpdates = 64
const mostBytes = 64 * 1024

/** A few updates that wait for others. Everything in it may be dropped: its sender still has it. */
export class EarlyUpdates<T extends { update: Uint8Array }> {
  #held: { item: T; since: number }[] = []
  #bytes = 0

  get size(): number {
    return this.#held.length
  }

  /** False if there is no room for it. */
  hold(item: T, now = performance.now()): boolean {
    const { length } = item.update
    if (this.#held.length >= mostUpdates || this.#bytes + length > mostBytes) return false
    this.#held.push({ item, since: now })
    this.#bytes += length
    return true
  }

  /** Offers each, again and again while some are taken. */
  offer(isTaken: (item: T) => boolean): void {
    for (let before = -1; before !== this.#held.length;) {
      before = this.#held.length
      this.#keep(({ item }) => !isTaken(item))
    }
  }

  takeExpired(now = performance.now()): T[] {
    const isOld = ({ since }: { since: number }) => now - since > keptMs
    const old = this.#held.filter(isOld)
    if (old.length > 0) this.#keep((held) => !isOld(held))
    return old.map(({ item }) => item)
  }

  #keep(isKept: (held: { item: T; since: number }) => boolean): void {
    this.#held = this.#held.filter(isKept)
    this.#bytes = this.#held.reduce((sum, { item }) => sum + item.update.length, 0)
  }
}
