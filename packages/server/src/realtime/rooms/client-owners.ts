import * as Y from 'yjs'
import { backendUserIds } from '../../access/backend-users.ts'
import { serverClientId } from '../../crdt/content/load.ts'

/**
 * Client ids of one editor. Each is in the state vector that every client sends when it connects, for good: with some
 * 15,000 more, that would not fit into a message.
 */
export const maxClientIds = 100_000
/** Every user may have this many of them, as long as there are any. */
const minIdsPerUser = 1_000

export type ClientOwner = readonly [client: number, userId: string]

/** Whose the Yjs client ids of an editor are: of the user who first wrote with one. Nothing else makes an owner. */
export class ClientOwners {
  readonly #owners: Map<number, string>
  /** How many ids each user has; counted when it is first asked for. */
  #counts: Map<string, number> | undefined
  readonly #onOwned: (client: number, userId: string) => void

  /** The stored ones are taken over: to copy 100,000 takes 20 ms. */
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
   * Whether the user may write with these ids, those that are new included. A user may have half as many ids as are left
   * for all: one user alone 33,333, which are 12 page loads with typing a day for seven years. So nobody uses up what
   * others need.
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

  /** The user has written with these; gives those that had no owner. */
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

  /** What they wrote is not stored. */
  remove(owners: readonly ClientOwner[]): void {
    for (const [client] of owners) this.#unset(client)
  }

  /** Whether an update has clients whose owner is unknown here. */
  hasStrangers(update: Uint8Array): boolean {
    const isStranger = (client: number) => this.ownerOf(client) === undefined
    return [...Y.parseUpdateMeta(update).from.keys()].some(isStranger)
  }

  /** What is stored counts, whoever has written here in the meantime. */
  learn(owners: Iterable<ClientOwner>): void {
    for (const [client, userId] of owners) {
      if (this.#owners.get(client) === userId) continue
      this.#set(client, userId)
      this.#onOwned(client, userId)
    }
  }
}
