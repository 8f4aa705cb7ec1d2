import * as Y from 'yjs'
import { backendUserIds } from '../../access/backend-users.ts'
import { serverClientId } from '../../crdt/content/load.ts'

/**
 * Yjs client ids of one editor. Every client sends all of them in its state vector when it connects, forever. With 15,000
 * more, the state vector would not fit into a message.
 */
export const maxClientIds = 100_000
/** Each user may have this many, as long as some are left. */
const minIdsPerUser = 1_000

export type ClientOwner = readonly [client: number, userId: string]

/** The owners of the Yjs client ids of an editor. The owner is the user who first wrote with the id. */
export class ClientOwners {
  readonly #owners: Map<number, string>
  /** How many ids each user has. Counted on first use. */
  #counts: Map<string, number> | undefined
  readonly #onOwned: (client: number, userId: string) => void

  /** Keeps and changes the map `stored`: copying 100,000 entries takes 20 ms. */
  constructor(stored: Map<number, string>, onOwned: (client: number, userId: string) => void) {
    this.#owners = stored
    this.#onOwned = onOwned
  }

  ownerOf(client: number): string | undefined {
    return client === serverClientId ? backendUserIds.rest : this.#owners.get(client)
  }

  mayWrite(client: number, userId: string): boolean {
    const owner = this.ownerOf(client)
    return owner === undefined || owner === userId
  }

  /**
   * Whether the user may write with these ids, including new ones. A user may own at most half as many ids as are left for
   * all, so nobody uses up the ids that others need. A single user gets 33,333: 12 page loads with typing a day for seven
   * years.
   */
  mayAdd(clients: Iterable<number>, userId: string): boolean {
    let added = 0
    for (const client of clients) if (!this.#owners.has(client)) added++
    if (added === 0) return true
    const left = maxClientIds - this.#owners.size
    const owned = this.#countOf(userId)
    return added <= left && owned + added <= Math.max(minIdsPerUser, left / 2)
  }

  #countOf(userId: string): number {
    if (this.#counts === undefined) {
      const counts = new Map<string, number>()
      for (const owner of this.#owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
      this.#counts = counts
    }
    return this.#counts.get(userId) ?? 0
  }

  /** Makes the user the owner of the ids that have none, and returns them. */
  add(clients: Iterable<number>, userId: string): ClientOwner[] {
    const added: ClientOwner[] = []
    for (const client of clients) {
      if (this.#owners.has(client)) continue
      this.#set(client, userId)
      this.#onOwned(client, userId)
      added.push([client, userId])
    }
    return added
  }

  #set(client: number, userId: string): void {
    this.#unset(client)
    this.#owners.set(client, userId)
    this.#counts?.set(userId, this.#countOf(userId) + 1)
  }

  #unset(client: number): void {
    const userId = this.#owners.get(client)
    if (userId === undefined) return
    this.#owners.delete(client)
    this.#counts?.set(userId, this.#countOf(userId) - 1)
  }

  /** For ids whose first update was not stored. */
  remove(owners: readonly ClientOwner[]): void {
    for (const [client] of owners) this.#unset(client)
  }

  /** Whether the update has client ids whose owner is unknown here. */
  hasUnknownOwners(update: Uint8Array): boolean {
    const isUnknown = (client: number) => this.ownerOf(client) === undefined
    return [...Y.parseUpdateMeta(update).from.keys()].some(isUnknown)
  }

  /** Stored owners override those that this server assumed in the meantime. */
  override(owners: Iterable<ClientOwner>): void {
    for (const [client, userId] of owners) {
      if (this.#owners.get(client) === userId) continue
      this.#set(client, userId)
      this.#onOwned(client, userId)
    }
  }
}
