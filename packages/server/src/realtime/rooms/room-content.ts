import type { Source } from '../../crdt/document-threads.ts'
import { type Parts, sizeOf } from '../../crdt/content/parts.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import { knowsNothing, mergeMany, mustJoin } from '../../crdt/crdt-work.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { someClient } from './state-vector.ts'

/** Up to this size in total a document is joined for each client that asks: that takes a few milliseconds. */
const smallBytes = 128 * 1024

/** What a client lacks. */
export interface Content {
  /** An update to be sent before `body`: changes since `body` was put together. Yjs keeps them until `body` is there. */
  readonly recent: Uint8Array | undefined
  readonly body: Uint8Array
  /** Whether the room holds these bytes anyway, so that a client that takes them slowly costs nothing. */
  readonly isHeld: () => boolean
}

interface Joined {
  seq: number
  whole: Uint8Array
}

export interface ContentParts {
  log: CommittedLog
  crdt: Crdt
  /** The document as it is now. */
  source: () => Source
  index: () => Pick<DocumentIndex, 'clocks' | 'stateVector'>
  /** Whether the room is in use. */
  isOpen: () => boolean
}

/** Answers what clients lack of a room's document, with bytes that are shared as far as possible. */
export class RoomContent {
  readonly #log: CommittedLog
  readonly #crdt: Crdt
  readonly #source: ContentParts['source']
  readonly #index: ContentParts['index']
  readonly #isOpen: ContentParts['isOpen']
  #joining: Promise<Joined> | undefined
  #summed: { vector: Uint8Array; total: number } | undefined
  #recent: { seq: number; base: Uint8Array; bytes: Uint8Array } | undefined

  constructor({ log, crdt, source, index, isOpen }: ContentParts) {
    this.#log = log
    this.#crdt = crdt
    this.#source = source
    this.#index = index
    this.#isOpen = isOpen
  }

  /**
   * Everything stored that a client with that state vector lacks. A difference is bytes of this client alone: if
   * `hasRoomFor` does not allow so many, the client gets the whole document, whose bytes are shared. Yjs skips what it knows.
   */
  async missingFor(stateVector: Uint8Array, hasRoomFor: (bytes: number) => boolean): Promise<Content> {
    const { parts } = this.#log
    const bytes = sizeOf(parts)
    if (knowsNothing(stateVector) || (bytes > smallBytes && !this.#knowsHalf(stateVector)))
      return this.#whole()
    const body = await this.#crdt.diff(this.#source(), parts, stateVector)
    if (body.length > bytes / 2 && bytes > smallBytes) return this.#whole()
    return hasRoomFor(body.length) ? { recent: undefined, body, isHeld: () => false } : this.#whole()
  }

  async #whole(): Promise<Content> {
    const { seq } = this.#log
    for (;;) {
      const { parts } = this.#log
      if (parts.length === 1 || (sizeOf(parts) > smallBytes && !mustJoin(parts))) return this.#inTwo(parts)
      // All who ask meanwhile wait for the same work. It may have begun before the newest rows were there.
      this.#joining ??= this.#join().finally(() => {
        this.#joining = undefined
      })
      const joined = await this.#joining
      if (joined.seq >= seq) return this.#held(joined.whole)
    }
  }

  async #join(): Promise<Joined> {
    const { parts, seq } = this.#log
    const whole = await this.#crdt.merge(this.#source(), parts)
    this.#log.joined(seq, whole)
    return { seq, whole }
  }

  /** The largest part as it is, and all others, which are small, as one update. */
  #inTwo(parts: Parts): Content {
    const base = parts.reduce((largest, part) => (part.length > largest.length ? part : largest))
    if (parts.length === 1) return this.#held(base)
    return this.#held(base, this.#recentBeside(base))
  }

  /** Rows that were merged for an earlier client are not merged again: 64 KiB of small ones take 20 to 30 ms. */
  #recentBeside(base: Uint8Array): Uint8Array {
    const { seq, parts } = this.#log
    const known = this.#recent?.base === base ? this.#recent : undefined
    if (known?.seq === seq) return known.bytes
    const rows = known
      ? [known.bytes, ...this.#log.partsAfter(known.seq)]
      : parts.filter((part) => part !== base)
    const bytes = mergeMany(rows)
    this.#recent = { seq, base, bytes }
    return bytes
  }

  #held(body: Uint8Array, recent?: Uint8Array): Content {
    return { recent, body, isHeld: () => this.#isOpen() && this.#log.holds(body) }
  }

  /** Whether the client knows at least half of what the clocks count. Otherwise a difference saves too little. */
  #knowsHalf(stateVector: Uint8Array): boolean {
    const { clocks } = this.#index()
    const half = this.#total() / 2
    let known = 0
    return (
      half === 0 ||
      someClient(stateVector, (client, clock) => {
        known += Math.min(clock, clocks.get(client) ?? 0)
        return known >= half
      })
    )
  }

  /** The sum of the clocks. */
  #total(): number {
    const vector = this.#index().stateVector()
    // The index makes another array when a clock has changed.
    if (this.#summed?.vector === vector) return this.#summed.total
    let total = 0
    someClient(vector, (_client, clock) => {
      total += clock
      return false
    })
    this.#summed = { vector, total }
    return total
  }
}
