import type { Address } from '../../../peers/peers.ts'

/** About 10 MB. A restart forgets them too. */
const maxIds = 50_000

/**
 * Yjs client ids of users who may write, lost their connection before they wrote, and may have typed since. If another user
 * wrote with such an id first, what its user has typed would be refused. The oldest are forgotten first.
 */
export class ReservedClientIds {
  /** The user of each id, by editor and id. */
  readonly #users = new Map<string, string>()

  of(editor: Address): ReservedIdsOfEditor {
    const users = this.#users
    const keyOf = (clientId: number) => `${clientId} ${editor}`
    return {
      userOf: (clientId) => users.get(keyOf(clientId)),
      release: (clientId) => void users.delete(keyOf(clientId)),
      reserve(clientId, userId) {
        const key = keyOf(clientId)
        users.delete(key)
        users.set(key, userId)
        for (const oldest of users.keys()) {
          if (users.size <= maxIds) break
          users.delete(oldest)
        }
      },
    }
  }
}

export interface ReservedIdsOfEditor {
  userOf(clientId: number): string | undefined
  reserve(clientId: number, userId: string): void
  release(clientId: number): void
}
