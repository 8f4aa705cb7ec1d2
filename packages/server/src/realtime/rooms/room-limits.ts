import { type ClientOwners, maxClientIds } from './client-owners.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Accepted, Fault } from '../../crdt/updates/validate-update.ts'

/** From this share of the limit on, an editor is compacted to make space. */
const scarceShare = 0.9
/** Yjs clients that are remembered because something of theirs was refused. */
const maxRefused = 1_000

const tooManyIds: Fault = {
  code: 'too_many_ids',
  message:
    `The editor has too many Yjs client ids, of this user or of all users (${maxClientIds}). ` +
    'Clients that have written before can go on. Copy the content into another editor.',
}

/** What may be stored in one editor: how many bytes, and by how many Yjs clients. */
export class RoomLimits {
  readonly #log: CommittedLog
  readonly #owners: ClientOwners
  readonly #maxBytes: number
  readonly #full: Fault
  /** Yjs clients whose last update was refused, and why. What they send next builds upon it. */
  readonly #refused = new Map<number, Fault>()
  #hasRefusedBytes = false

  constructor(log: CommittedLog, owners: ClientOwners, maxBytes: number) {
    this.#log = log
    this.#owners = owners
    this.#maxBytes = maxBytes
    this.#full = {
      code: 'full',
      message: `The editor may have at most ${maxBytes} bytes (LIMIT_EDITOR_BYTES). Deletions are still accepted.`,
    }
  }

  /** Why something new must not be stored, if so. Deletions make the editor smaller, once it is compacted. */
  refusal({ update, clients }: Accepted, waitingBytes: number, userId: string): Fault | undefined {
    if (clients.length === 0) return undefined
    const refusal = this.#refusal(clients, waitingBytes + update.length, userId)
    for (const client of clients) {
      if (refusal === undefined) this.#refused.delete(client)
      else if (this.#refused.size < maxRefused) this.#refused.set(client, refusal)
    }
    this.#hasRefusedBytes ||= refusal === this.#full
    return refusal
  }

  #refusal(clients: readonly number[], bytes: number, userId: string): Fault | undefined {
    if (!this.#owners.mayAdd(clients, userId)) return tooManyIds
    return this.#log.bytes + bytes > this.#maxBytes ? this.#full : undefined
  }

  /** Why an update need not wait for what it builds upon: that was refused. */
  refusalOfEarly({ missing }: Fault): Fault | undefined {
    return missing && this.#refused.get(missing.client)
  }

  /** Whether a snapshot should be made because there is little space left. */
  get isScarce(): boolean {
    const isScarce = this.#hasRefusedBytes || this.#log.bytes > this.#maxBytes * scarceShare
    return isScarce && this.#log.tail.updates > 0
  }

  /** After a snapshot was made: whether something that was refused may fit now. */
  takeFreed(): boolean {
    if (!this.#hasRefusedBytes || this.#log.bytes > this.#maxBytes * scarceShare) return false
    this.#hasRefusedBytes = false
    for (const [client, refusal] of this.#refused) if (refusal === this.#full) this.#refused.delete(client)
    return true
  }
}
