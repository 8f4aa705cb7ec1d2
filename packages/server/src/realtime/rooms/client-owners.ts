import * as Y from 'yjs'
import { backendUserIds } from '../../access/backend-users.ts'
import { serverClientId } from '../../crdt/content/load.ts'

/**
 * How many Yjs client ids one editor may have. Every client sends all of them in its state vector whenever it connects. With
 * 15,000 more, the state vector would not fit into a message.
 */
export const maxClientIds = 100_000
/** Each user may own this many client ids, as long as the editor has any left. */
const minIdsPerUser = 1_000

/** A Yjs client id and the user who owns it. */
export type ClientOwner = readonly [clientId: number, userId: string]

/** The owners of the Yjs client ids of an editor. The owner is the user who first wrote with the id. */
export class ClientOwners {
  readonly #owners: Map<number, string>
  /** How many ids each user owns. Counted on first use. */
  #counts: Map<string, number> | undefined
  readonly #onOwned: (clientId: number, userId: string) => void

  /**
   * Uses the map `stored` itself, and changes it: copying 100,000 entries takes 20 ms. `onOwned` is called when a user
   * becomes the owner of an id.
   */
  constructor(stored: Map<number, string>, onOwned: (clientId: number, userId: string) => void) {
    this.#owners = stored
    this.#onOwned = onOwned
  }

  ownerOf(clientId: number): string | undefined {
    return clientId === serverClientId ? backendUserIds.rest : this.#owners.get(clientId)
  }

  /**
   * Whether the user may become the owner of those ids that have none. A user may own at most half as many ids as are left
   * for all (or `minIdsPerUser`, if that is more), so that nobody uses up the ids that others need. A single user gets
   * 33,333: 12 page loads with typing a day for seven years.
   */
  mayAdd(clientIds: Iterable<number>, userId: string): boolean {
    let added = 0
    for (const clientId of clientIds) if (!this.#owners.has(clientId)) added++
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

  /** Makes the user the owner of those ids that have none, and returns these ids with the user. */
  add(clientIds: Iterable<number>, userId: string): ClientOwner[] {
    const added: ClientOwner[] = []
    for (const clientId of clientIds) {
      if (this.#owners.has(clientId)) continue
      this.#set(clientId, userId)
      this.#onOwned(clientId, userId)
      added.push([clientId, userId])
    }
    return added
  }

  #set(clientId: number, userId: string): void {
    this.#unset(clientId)
    this.#owners.set(clientId, userId)
    this.#counts?.set(userId, this.#countOf(userId) + 1)
  }

  #unset(clientId: number): void {
    const userId = this.#owners.get(clientId)
    if (userId === undefined) return
    this.#owners.delete(clientId)
    this.#counts?.set(userId, this.#countOf(userId) - 1)
  }

  /** Removes the owners of ids whose first update was not stored. */
  remove(owners: readonly ClientOwner[]): void {
    for (const [clientId, userId] of owners) if (this.#owners.get(clientId) === userId) this.#unset(clientId)
  }

  /** Whether each of the ids has an owner. */
  areKnown(clientIds: readonly number[]): boolean {
    return clientIds.every((clientId) => this.#owners.has(clientId))
  }

  /** Whether all of these ids, if there are any, belong to other users. */
  areTaken(clientIds: readonly number[], userId: string): boolean {
    const isTaken = (clientId: number) => (this.ownerOf(clientId) ?? userId) !== userId
    return clientIds.length > 0 && clientIds.every(isTaken)
  }

  /** Whether the rows contain Yjs client ids whose owner is unknown. Rows of REST have only the server's client id. */
  hasUnknown(rows: readonly { bytes: Uint8Array; userId: string }[]): boolean {
    const isUnknown = (clientId: number) => this.ownerOf(clientId) === undefined
    return rows.some(
      ({ bytes, userId }) =>
        userId !== backendUserIds.rest && [...Y.parseUpdateMeta(bytes).from.keys()].some(isUnknown),
    )
  }

  /** Replaces owners that this server has assumed by the stored owners. */
  override(owners: Iterable<ClientOwner>): void {
    for (const [clientId, userId] of owners) {
      if (this.#owners.get(clientId) === userId) continue
      this.#set(clientId, userId)
      this.#onOwned(clientId, userId)
    }
  }
}
