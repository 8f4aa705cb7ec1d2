import { type ClientOwners, maxClientIds } from './client-owners.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { Accepted } from '../../crdt/updates/validate-update.ts'

/** Above this share of the limit, an editor is compacted to make space. */
const compactAboveShare = 0.9
/** Yjs clients whose refused updates are remembered. */
const maxRefusedClients = 1_000

const tooManyIds: Fault = {
  code: 'too_many_ids',
  message:
    `The editor has too many Yjs client ids, of this user or of all users (${maxClientIds}). ` +
    'Clients that have written before can go on. Copy the content into another editor.',
}

/** Enforces the limits of one editor: its bytes and its Yjs client ids. */
export class RoomLimits {
  readonly #log: CommittedLog
  readonly #owners: ClientOwners
  readonly #maxBytes: number
  readonly #full: Fault
  /** The fault of Yjs clients whose last update was refused. Their next updates depend on it. */
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

  /** Why a new update must not be stored, or undefined. Deletions are always stored: compaction then makes space. */
  refusal({ update, clients }: Accepted, waitingBytes: number, userId: string): Fault | undefined {
    if (clients.length === 0) return undefined
    const refusal = this.#refusal(clients, waitingBytes + update.length, userId)
    for (const client of clients) {
      if (refusal === undefined) this.#refused.delete(client)
      else if (this.#refused.size < maxRefusedClients) this.#refused.set(client, refusal)
    }
    this.#hasRefusedBytes ||= refusal === this.#full
    return refusal
  }

  #refusal(clients: readonly number[], bytes: number, userId: string): Fault | undefined {
    if (!this.#owners.mayAdd(clients, userId)) return tooManyIds
    return this.#log.bytes + bytes > this.#maxBytes ? this.#full : undefined
  }

  /** The fault of the update that this one depends on, if that was refused: then waiting is useless. */
  refusalOfMissing({ missing }: Fault): Fault | undefined {
    return missing && this.#refused.get(missing.client)
  }

  /** Whether the editor should be compacted because it is nearly full. */
  get isNearlyFull(): boolean {
    const isScarce = this.#hasRefusedBytes || this.#log.bytes > this.#maxBytes * compactAboveShare
    return isScarce && this.#log.tail.updates > 0
  }

  /** Call it after a compaction. Whether updates that were refused may fit now. */
  takeFreed(): boolean {
    if (!this.#hasRefusedBytes || this.#log.bytes > this.#maxBytes * compactAboveShare) return false
    this.#hasRefusedBytes = false
    for (const [client, refusal] of this.#refused) if (refusal === this.#full) this.#refused.delete(client)
    return true
  }
}
