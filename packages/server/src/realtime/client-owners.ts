import * as Y from 'yjs'
import { backendUserIds } from '../access/backend-users.ts'
import { serverClientId } from '../editors/load.ts'

export type ClientOwner = readonly [client: number, userId: string]

/** Whose the Yjs client ids of an editor are: of the user who first wrote with one. Nothing else makes an owner. */
export class ClientOwners {
  readonly #owners: Map<number, string>
  readonly #onOwned: (client: number, userId: string) => void

  constructor(stored: Iterable<ClientOwner>, onOwned: (client: number, userId: string) => void) {
    this.#owners = new Map(stored)
    this.#onOwned = onOwned
  }

  ownerOf(client: number): string | undefined {
    return client === serverClientId ? backendUserIds.rest : this.#owners.get(client)
  }

  mayWrite(client: number, userId: string): boolean {
    const owner = this.ownerOf(client)
    return owner === undefined || owner === userId
  }

  /** The user has written with these; gives those that had no owner. */
  add(clients: Iterable<number>, userId: string): ClientOwner[] {
    const added: ClientOwner[] = []
    for (const client of clients) {
      if (this.#owners.has(client)) continue
      this.#set(client, userId)
      added.push([client, userId])
    }
    return added
  }

  #set(client: number, userId: string): void {
    this.#owners.set(client, userId)
    this.#onOwned(client, userId)
  }

  /** What they wrote is not stored. */
  remove(owners: readonly ClientOwner[]): void {
    for (const [client] of owners) this.#owners.delete(client)
  }

  /** Whether an update has clients whose owner is unknown here. */
  hasStrangers(update: Uint8Array): boolean {
    const isStranger = (client: number) => this.ownerOf(client) === undefined
    return [...Y.parseUpdateMeta(update).from.keys()].some(isStranger)
  }

  /** What is stored counts, whoever has written here in the meantime. */
  learn(owners: Iterable<ClientOwner>): void {
    for (const [client, userId] of owners) this.#set(client, userId)
  }
}
