import * as Y from 'yjs'
import { DamagedLog } from '../editors/errors.ts'
import { addRun, codeAt, placeOfCode, type Place, type PlaceCode, type Runs } from './item-places.ts'
import { covers, unite, type Ranges } from './ranges.ts'
import { unbounded } from './update-bounds.ts'
import {
  validateUpdate,
  type Accepted,
  type Change,
  type Options,
  type StateVector,
  type Verdict,
} from './validate-update.ts'

export type CheckOptions = Pick<Options, 'mayWrite' | 'bounds' | 'isStored'>

interface KnownClient {
  places: Runs
  deletes: Ranges
}

/**
 * What must be known of a Yjs document to judge an update for it, without the document. Of what Yjs deletes by itself (in
 * deleted types, and where two set the same key) it learns when a client or a snapshot says so: it may take a delete for
 * news that is none, never the reverse.
 */
export class DocumentIndex {
  readonly #clocks = new Map<number, number>()
  readonly #clients = new Map<number, KnownClient>()
  #stateVector: Uint8Array | undefined

  /** From what is stored: a snapshot, then updates in their order. */
  static of(parts: readonly Uint8Array[]): DocumentIndex {
    const index = new DocumentIndex()
    for (const [number, part] of parts.entries()) {
      const verdict = index.check(part, { isStored: true })
      if (!verdict.ok) throw new DamagedLog(`Part ${number} cannot be read: ${verdict.fault.message}`)
      index.take(verdict.value)
    }
    return index
  }

  /** The next clock of each client. */
  get clocks(): StateVector {
    return this.#clocks
  }

  /** Whether an update may be applied; changes nothing. Stored bytes have no bounds. */
  check(update: Uint8Array, options: CheckOptions = {}): Verdict {
    const { placeOf, isDeleted } = this
    const { mayWrite, isStored, bounds = isStored ? unbounded : undefined } = options
    return validateUpdate(update, this.#clocks, { placeOf, isDeleted, mayWrite, bounds, isStored })
  }

  /** Makes known what was accepted; nothing else may have become known in between. */
  take({ changes }: Accepted): void {
    for (const { client, from } of changes) {
      if ((this.#clocks.get(client) ?? 0) !== from) throw new Error('It was accepted for an earlier state.')
    }
    for (const change of changes) this.#change(change)
  }

  /** As Yjs encodes it. */
  stateVector(): Uint8Array {
    return (this.#stateVector ??= Y.encodeStateVector(this.#clocks))
  }

  readonly placeOf = (client: number, clock: number): Place | undefined => {
    const known = this.#clients.get(client)
    return known && placeOfCode(codeAt(known.places, clock))
  }

  readonly isDeleted = (client: number, clock: number, length: number): boolean => {
    const known = this.#clients.get(client)
    return known !== undefined && covers(known.deletes, clock, clock + length)
  }

  /** All numbers in one array, of which the buffer can be transferred to another thread. */
  toMessage(): Float64Array {
    let size = 0
    for (const { places, deletes } of this.#clients.values()) size += 4 + places.length + deletes.length
    const message = new Float64Array(size)
    let at = 0
    for (const [client, { places, deletes }] of this.#clients) {
      message.set([client, this.#clocks.get(client) as number, places.length, deletes.length], at)
      message.set(places, at + 4)
      message.set(deletes, at + 4 + places.length)
      at += 4 + places.length + deletes.length
    }
    return message
  }

  static fromMessage(message: Float64Array): DocumentIndex {
    const index = new DocumentIndex()
    for (let at = 0; at < message.length;) {
      const [client = 0, clock = 0, placesSize = 0, deletesSize = 0] = message.subarray(at, at + 4)
      const placesAt = at + 4
      const deletesAt = placesAt + placesSize
      at = deletesAt + deletesSize
      index.#clocks.set(client, clock)
      index.#clients.set(client, {
        places: numbersOf(message, placesAt, deletesAt),
        deletes: numbersOf(message, deletesAt, at),
      })
    }
    return index
  }

  #change({ client, from, to, places, deletes }: Change): void {
    let known = this.#clients.get(client)
    if (known === undefined) {
      known = { places: [], deletes: [] }
      this.#clients.set(client, known)
    }
    if (to > from) {
      for (let i = 0; i < places.length; i += 2) {
        addRun(known.places, places[i] as number, places[i + 1] as PlaceCode)
      }
      this.#clocks.set(client, to)
      this.#stateVector = undefined
    }
    if (deletes.length > 0) known.deletes = unite(known.deletes, deletes)
  }
}

function numbersOf(message: Float64Array, from: number, to: number): number[] {
  const numbers: number[] = []
  for (let i = from; i < to; i++) numbers.push(message[i] as number)
  return numbers
}
