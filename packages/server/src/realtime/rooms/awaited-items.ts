import { LazyMap } from '../../platform/lazy-collections.ts'
import type { Member } from './member.ts'

/** Further entries are ignored: they matter only if a client relays updates of another user who is offline. */
const maxEntries = 1_000

/** Members that have deleted items which the server lacks. They are asked for their deletes when such items arrive. */
export class AwaitedItems {
  /** The members, by the Yjs client id of the items. */
  readonly #waiting = new LazyMap<number, Set<Member>>()
  #count = 0

  add(member: Member, clientIds: readonly number[]): void {
    for (const clientId of clientIds) {
      const members = this.#waiting.get(clientId) ?? new Set()
      if (members.has(member) || this.#count >= maxEntries) continue
      this.#waiting.set(clientId, members.add(member))
      this.#count++
    }
  }

  /** Call it when items of a Yjs client id have arrived. */
  onArrived(clientId: number): void {
    const members = this.#waiting.get(clientId)
    if (members === undefined) return
    this.#waiting.delete(clientId)
    this.#count -= members.size
    for (const member of members) member.requestMissingUpdates()
  }

  /** Forgets the members that have left. */
  keepOnly(present: ReadonlySet<Member>): void {
    for (const [clientId, members] of this.#waiting) {
      for (const member of members) if (!present.has(member) && members.delete(member)) this.#count--
      if (members.size === 0) this.#waiting.delete(clientId)
    }
  }
}
