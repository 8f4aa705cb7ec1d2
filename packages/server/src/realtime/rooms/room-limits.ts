import { LazyMap } from '../../platform/lazy-collections.ts'
import { type ClientOwners, maxClientIds } from './client-owners.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { Accepted } from '../../crdt/updates/validate-update.ts'

/** Above this share of the limit, an editor is compacted to make space. */
const compactAboveShare = 0.9
/** How many Yjs client ids with a refused update are remembered. */
const maxRefusedClientIds = 1_000

const tooManyIds: Fault = {
  code: 'too_many_ids',
  message:
    `The editor has too many Yjs client ids, of this user or of all users (${maxClientIds}). ` +
    'Clients that have written before can go on. Copy the content into another editor.',
}

/**
 * Chunks of deleted ranges in the index that one update may change for each Yjs client id: 200,000 deletions in a document
 * with millions take 25 ms. A deletion beyond this limit is not indexed, so it is stored again when it is sent again.
 */
export const maxChunksPerUpdate = 2_048

/** Enforces the limits of one editor: its bytes and its Yjs client ids. */
export class RoomLimits {
  readonly #committed: CommittedLog
  readonly #owners: ClientOwners
  readonly #maxBytes: number
  readonly #full: Fault
  /** By Yjs client id: why its last update was refused. Its next updates depend on the refused update. */
  readonly #refused = new LazyMap<number, Fault>()
  /** Whether an update was refused for lack of space since a compaction last made space. */
  #hasRefusedBytes = false

  constructor(committed: CommittedLog, owners: ClientOwners, maxBytes: number) {
    this.#committed = committed
    this.#owners = owners
    this.#maxBytes = maxBytes
    this.#full = {
      code: 'full',
      message: `The editor may have at most ${maxBytes} bytes (LIMIT_EDITOR_BYTES). Deletions are still accepted.`,
    }
  }

  /**
   * Returns why a new update must not be stored, or undefined. Mere deletions are always stored: compaction then makes
   * space.
   */
  refusal({ update, clients: clientIds }: Accepted, waitingBytes: number, userId: string): Fault | undefined {
    if (clientIds.length === 0) return undefined
    const refusal = this.#refusal(clientIds, waitingBytes + update.length, userId)
    for (const clientId of clientIds) {
      if (refusal === undefined) this.#refused.delete(clientId)
      else if (this.#refused.size < maxRefusedClientIds) this.#refused.set(clientId, refusal)
    }
    this.#hasRefusedBytes ||= refusal === this.#full
    return refusal
  }

  #refusal(clientIds: readonly number[], bytes: number, userId: string): Fault | undefined {
    if (!this.#owners.mayAdd(clientIds, userId)) return tooManyIds
    return this.#committed.bytes + bytes > this.#maxBytes ? this.#full : undefined
  }

  /** Why the missing update was refused, if it was. Then no update needs to wait for it. */
  refusalOfMissing({ missing }: Fault): Fault | undefined {
    return missing && this.#refused.get(missing.client)
  }

  /** Whether the editor should be compacted because it is nearly full. */
  get isNearlyFull(): boolean {
    const isScarce = this.#hasRefusedBytes || this.#committed.bytes > this.#maxBytes * compactAboveShare
    return isScarce && this.#committed.tail.updates > 0
  }

  /** Call it after a compaction. Returns whether updates that were refused may fit now. */
  takeFreed(): boolean {
    if (!this.#hasRefusedBytes || this.#committed.bytes > this.#maxBytes * compactAboveShare) return false
    this.#hasRefusedBytes = false
    for (const [clientId, refusal] of this.#refused) {
      if (refusal === this.#full) this.#refused.delete(clientId)
    }
    return true
  }
}
