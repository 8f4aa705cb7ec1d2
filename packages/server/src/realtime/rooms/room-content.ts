import type { Source } from '../../crdt/document-threads.ts'
import { type Parts, sizeOf } from '../../crdt/content/parts.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import { knowsNothing, mergeMany, mustCompact } from '../../crdt/crdt-work.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { someClient } from './state-vector.ts'

/** Documents up to this size are merged for each client that asks, in a few milliseconds. */
const maxSmallBytes = 128 * 1024

/** The updates that a client lacks. */
export interface Content {
  /** An update to send before `body`: the other parts of the log, merged. Yjs keeps it pending until `body` arrives. */
  readonly recent: Uint8Array | undefined
  readonly body: Uint8Array
  /** Whether the room keeps the bytes of `body` anyway, so that a slow reader costs no memory. */
  readonly isHeld: () => boolean
}

/** The whole document, merged from the rows up to `seq`. */
interface MergedDocument {
  seq: number
  whole: Uint8Array
}

export interface ContentDeps {
  committed: CommittedLog
  crdt: Crdt
  /** Identifies the document in its current state, for the threads. */
  source: () => Source
  index: () => Pick<DocumentIndex, 'clocks' | 'stateVector'>
  /** Whether the room has members and is not dropped, so that it keeps its bytes. */
  isOpen: () => boolean
}

/** Computes what clients lack of a room's document, in bytes that clients share as far as possible. */
export class RoomContent {
  readonly #committed: CommittedLog
  readonly #crdt: Crdt
  readonly source: ContentDeps['source']
  readonly #index: ContentDeps['index']
  readonly #isOpen: ContentDeps['isOpen']
  #merging: Promise<MergedDocument> | undefined
  /** The sum of all clocks, for the state vector that it was computed from. */
  #clockSum: { vector: Uint8Array; total: number } | undefined
  /** The merge of all parts but `base`, up to the row `seq`. */
  #recent: { seq: number; base: Uint8Array; bytes: Uint8Array } | undefined

  constructor({ committed, crdt, source, index, isOpen }: ContentDeps) {
    this.#committed = committed
    this.#crdt = crdt
    this.source = source
    this.#index = index
    this.#isOpen = isOpen
  }

  /**
   * Resolves with everything stored that a client with this state vector lacks. The bytes of a difference are not shared: if
   * `hasSpaceFor` refuses them, the client gets the whole document, whose bytes are shared. Yjs skips what a client has.
   */
  async missingFor(stateVector: Uint8Array, hasSpaceFor: (bytes: number) => boolean): Promise<Content> {
    const { parts } = this.#committed
    const bytes = sizeOf(parts)
    if (knowsNothing(stateVector) || (bytes > maxSmallBytes && !this.#knowsHalf(stateVector)))
      return this.#wholeDocument()
    const body = await this.#crdt.diff(this.source(), parts, stateVector)
    if (body.length > bytes / 2 && bytes > maxSmallBytes) return this.#wholeDocument()
    return hasSpaceFor(body.length) ? { recent: undefined, body, isHeld: () => false } : this.#wholeDocument()
  }

  async #wholeDocument(): Promise<Content> {
    const { seq } = this.#committed
    for (;;) {
      const { parts } = this.#committed
      if (parts.length === 1 || (sizeOf(parts) > maxSmallBytes && !mustCompact(parts)))
        return this.#wholeInTwoUpdates(parts)
      // All clients wait for the same merge, which may have started before the newest rows arrived.
      this.#merging ??= this.#mergeLog().finally(() => {
        this.#merging = undefined
      })
      const merged = await this.#merging
      if (merged.seq >= seq) return this.#sharedContent(merged.whole)
    }
  }

  async #mergeLog(): Promise<MergedDocument> {
    const { parts, seq } = this.#committed
    const whole = await this.#crdt.merge(this.source(), parts)
    this.#committed.replaceWithMerged(seq, whole)
    return { seq, whole }
  }

  /** Returns the largest part unchanged, and the other parts, which are small, merged into one update. */
  #wholeInTwoUpdates(parts: Parts): Content {
    const base = parts.reduce((largest, part) => (part.length > largest.length ? part : largest))
    if (parts.length === 1) return this.#sharedContent(base)
    return this.#sharedContent(base, this.#recentBeside(base))
  }

  /** Merges the parts other than `base`. Reuses the last merge, because merging 64 KiB of small rows takes 20 to 30 ms. */
  #recentBeside(base: Uint8Array): Uint8Array {
    const { seq, parts } = this.#committed
    const known = this.#recent?.base === base ? this.#recent : undefined
    if (known?.seq === seq) return known.bytes
    const rows = known
      ? [known.bytes, ...this.#committed.partsAfter(known.seq)]
      : parts.filter((part) => part !== base)
    const bytes = mergeMany(rows)
    this.#recent = { seq, base, bytes }
    return bytes
  }

  #sharedContent(body: Uint8Array, recent?: Uint8Array): Content {
    return { recent, body, isHeld: () => this.#isOpen() && this.#committed.has(body) }
  }

  /** Whether the client has at least half of the document, by the sum of the clocks. Otherwise a difference saves too little. */
  #knowsHalf(stateVector: Uint8Array): boolean {
    const { clocks } = this.#index()
    const half = this.#total() / 2
    let known = 0
    return (
      half === 0 ||
      someClient(stateVector, (clientId, clock) => {
        known += Math.min(clock, clocks.get(clientId) ?? 0)
        return known >= half
      })
    )
  }

  /** The sum of all clocks. */
  #total(): number {
    const vector = this.#index().stateVector()
    // The index returns another array when a clock has changed.
    if (this.#clockSum?.vector === vector) return this.#clockSum.total
    let total = 0
    someClient(vector, (_clientId, clock) => {
      total += clock
      return false
    })
    this.#clockSum = { vector, total }
    return total
  }
}
