import { setImmediate } from 'node:timers/promises'
import { DamagedLog } from '../content/errors.ts'
import {
  codeAt,
  type KnownPlaces,
  type ItemPlace,
  type PlaceCode,
  placeOfCode,
  placesOver,
  toPairs,
  withRuns,
} from './item-places.ts'
import { RangeSet } from './ranges.ts'
import { SortedPairs } from './sorted-pairs.ts'
import { StateVectorEncoder } from './state-vector-encoder.ts'
import { unbounded } from './update-bounds.ts'
import type { Change } from './update-changes.ts'
import {
  validateInSteps,
  validateUpdate,
  type Accepted,
  type Options,
  type StateVector,
  type Verdict,
} from './validate-update.ts'

export type CheckOptions = Pick<Options, 'mayWrite' | 'bounds' | 'isStored'>

/** How many Yjs clients are read from a message in one turn of the event loop, in about 5 ms. */
const maxClientsPerTurn = 4_096

interface KnownClient {
  /** The next clock. */
  clock: number
  places: KnownPlaces
  deletes: RangeSet | undefined
  /** The number of the client's block in the `StateVectorEncoder`. */
  block: number
}

/** Larger updates of the log are checked in steps. An update of this size takes about 2 ms. */
const maxBytesPerTurn = 64 * 1024

/**
 * The part of a Yjs document that is needed to validate updates for it. Items that Yjs deletes by itself (in deleted types,
 * and where two clients set the same key) are marked as deleted only when a client or a snapshot deletes them. So the index
 * may call a known delete new, but never a new delete known.
 */
export class DocumentIndex {
  readonly #clients = new Map<number, KnownClient>()
  readonly #encoder = new StateVectorEncoder()

  /** Builds the index of a stored document: a snapshot, then updates in their order. */
  static of(parts: readonly Uint8Array[]): DocumentIndex {
    const index = new DocumentIndex()
    for (const [number, part] of parts.entries()) {
      const verdict = index.check(part, { isStored: true })
      if (!verdict.ok) throw new DamagedLog(`Part ${number} cannot be read: ${verdict.fault.message}`)
      index.add(verdict.value)
    }
    return index
  }

  /** How many Yjs clients are known. */
  get size(): number {
    return this.#clients.size
  }

  /** The next clock of each Yjs client. */
  readonly clocks: StateVector = { get: (client) => this.#clients.get(client)?.clock }

  /** Validates an update without adding it. Stored updates have no bounds. */
  check(update: Uint8Array, options: CheckOptions = {}): Verdict {
    const { placeOf, isDeleted } = this
    const { mayWrite, isStored, bounds = isStored ? unbounded : undefined } = options
    return validateUpdate(update, this.clocks, { placeOf, isDeleted, mayWrite, bounds, isStored })
  }

  /**
   * Checks an update of the log, of any size, and calls `add` with what was accepted, before anything else can change the
   * index. Large updates are checked in turns with other work.
   */
  async addStored(
    update: Uint8Array,
    add: (accepted: Accepted) => void = (accepted) => this.add(accepted),
  ): Promise<Verdict> {
    const isSmall = update.length <= maxBytesPerTurn
    for (;;) {
      const verdict = isSmall ? this.check(update, { isStored: true }) : await this.#checkInTurns(update)
      // Clients of a large update may have advanced meanwhile.
      if (verdict.ok && !this.#fits(verdict.value.changes)) continue
      if (verdict.ok && verdict.value.hasChanges) add(verdict.value)
      return verdict
    }
  }

  #checkInTurns(update: Uint8Array): Promise<Verdict> {
    const { placeOf, isDeleted } = this
    const options = { placeOf, isDeleted, bounds: unbounded, isStored: true }
    return inTurns(validateInSteps(update, this.clocks, options))
  }

  /**
   * Adds an accepted update. Throws if a client with new structs has advanced since the check. `maxChunks` limits the work
   * on the deletes of a client: deletes in further chunks of its `RangeSet` are not added.
   */
  add({ changes }: Accepted, maxChunks = Infinity): void {
    if (!this.#fits(changes)) throw new Error('The update was accepted for an earlier state of the index.')
    for (const change of changes) this.#applyChange(change, maxChunks)
  }

  #fits(changes: readonly Change[]): boolean {
    return changes.every(({ client, from, to }) => to === from || (this.clocks.get(client) ?? 0) === from)
  }

  /** The state vector in the encoding of Yjs. */
  stateVector(): Uint8Array {
    return this.#encoder.encode(this.clocks)
  }

  readonly placeOf = (client: number, clock: number): ItemPlace | undefined => {
    const known = this.#clients.get(client)
    return known && placeOfCode(codeAt(known.places, clock))
  }

  readonly isDeleted = (client: number, clock: number, length: number): boolean => {
    const known = this.#clients.get(client)
    return known?.deletes?.covers(clock, clock + length) ?? false
  }

  /** Writes the index into one array, whose buffer can be transferred to another thread. */
  toMessage(): Float64Array {
    let size = 0
    for (const { places, deletes } of this.#clients.values()) {
      size += 4 + toPairs(places).length + (deletes?.pairs.length ?? 0)
    }
    const message = new Float64Array(size)
    let at = 0
    for (const [client, { clock, places: known, deletes }] of this.#clients) {
      const places = toPairs(known)
      const deletesAt = at + 4 + places.length
      const end = deletesAt + (deletes?.pairs.length ?? 0)
      message.set([client, clock, places.length, end - deletesAt], at)
      places.copyTo(message, at + 4)
      deletes?.pairs.copyTo(message, deletesAt)
      at = end
    }
    return message
  }

  /** Builds the index that `toMessage` wrote, in turns with other work. Keeps the array: the caller must not change it. */
  static async fromMessage(message: Float64Array): Promise<DocumentIndex> {
    const index = new DocumentIndex()
    for (let at = 0, clients = 0; at < message.length; clients++) {
      at = index.#addClientFrom(message, at)
      if (clients % maxClientsPerTurn !== maxClientsPerTurn - 1) continue
      index.#encoder.prepare(index.clocks)
      await setImmediate()
    }
    return index
  }

  /** Adds the client at this position of a message and returns the position of the next. */
  #addClientFrom(message: Float64Array, at: number): number {
    const deletesAt = at + 4 + (message[at + 2] as number)
    const end = deletesAt + (message[at + 3] as number)
    const places = placesOver(message.subarray(at + 4, deletesAt))
    const known = this.#addClient(message[at] as number, places)
    known.clock = message[at + 1] as number
    if (end > deletesAt) known.deletes = new RangeSet(SortedPairs.over(message.subarray(deletesAt, end)))
    return end
  }

  #addClient(client: number, places: KnownPlaces): KnownClient {
    const block = this.#encoder.add(client)
    const known: KnownClient = { clock: 0, places, deletes: undefined, block }
    this.#clients.set(client, known)
    return known
  }

  #applyChange({ client, from, to, places, deletes }: Change, maxChunks: number): void {
    // A delete set may name a client without ranges. The client may even be unknown.
    if (to === from && deletes.length === 0) return
    const known = this.#clients.get(client) ?? this.#addClient(client, places[1] as PlaceCode)
    if (to > from) {
      known.places = withRuns(known.places, places)
      known.clock = to
      this.#encoder.onClockChanged(known.block)
    }
    if (deletes.length > 0) (known.deletes ??= new RangeSet()).addAll(deletes, maxChunks)
  }
}

/** How long steps run before they yield to the event loop. */
const maxTurnMs = 5

async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let endsAt = performance.now() + maxTurnMs; ;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < endsAt) continue
    await setImmediate()
    endsAt = performance.now() + maxTurnMs
  }
}
