import { codeInRoot, placeOfCode, collected, type Place } from './places.ts'
import { addRange, type Ranges } from './ranges.ts'
import { changeOf, type Change } from './update-changes.ts'
import { contentRefs, readContent } from './update-contents.ts'
import { checkOrder, isDivisible, type Client, type Struct } from './update-order.ts'
import { Refusal, UpdateReader, type Fault } from './update-reader.ts'

export type { Change, Fault, Place }

export interface Bounds {
  bytes: number
  structs: number
  /** Clients with structs. The delete set of an answer to a state vector names all that ever deleted. */
  clients: number
  /** Ranges of the delete set. */
  deletes: number
  /** Each costs Yjs a document with its promises. */
  subdocs: number
  /** Objects and arrays inside each other in one value. */
  depth: number
  /** Shared types inside each other: Yjs deletes them by recursion. */
  nesting: number
  /** Names of root types and elements, and keys, in UTF-16 units. */
  nameLength: number
  /**
   * Values that Yjs copies while it joins neighbouring array items, quadratic in their number: 50,000 items in 350 kB
   * end the process for want of memory.
   */
  copies: number
}

export const defaultBounds: Readonly<Bounds> = {
  bytes: 1_048_576,
  structs: 50_000,
  clients: 64,
  deletes: 200_000,
  subdocs: 1_000,
  depth: 32,
  nesting: 64,
  nameLength: 4_096,
  copies: 2_000_000,
}

/** The next clock of each client. */
export type StateVector = ReadonlyMap<number, number>

export interface Options {
  bounds?: Partial<Bounds>
  /** Whether new structs of this client may come from the sender. */
  mayWrite?: (client: number) => boolean
  /**
   * Where a known item lies; nothing for one that is collected. Without it, all that is known counts as lying in a root
   * list: types that several updates nest too deep are not seen, nor values of keys that have several parts.
   */
  placeOf?: (client: number, clock: number) => Place | undefined
  /** Whether the whole range is known as deleted. Without it, every range counts as news. */
  isDeleted?: (client: number, clock: number, length: number) => boolean
  /**
   * For bytes of our own log: any name is allowed, values of keys may have several parts, what is left out must be
   * known, and of an item that is known in part the rest is taken.
   */
  isStored?: boolean
}

export interface Accepted {
  /** The next clock of each client that has structs in the update, after it. */
  clocks: Map<number, number>
  /** Whether it adds anything to what is known; if not, it need not be stored or applied. */
  isNews: boolean
  structs: number
  /** The clients with new structs. */
  clients: readonly number[]
  /** What becomes known, if it was given where known items lie; otherwise nothing. */
  changes: readonly Change[]
}

export type Verdict = { ok: true; value: Accepted } | { ok: false; fault: Fault }

const inRootList = placeOfCode(codeInRoot(false))
const anywhere = () => inRootList

/**
 * Whether a Yjs update of version 1 can be applied to a document with this state vector such that nothing stays
 * pending, nothing throws and its clocks become `clocks`. Takes time in proportion to the bytes and never throws.
 */
export function validateUpdate(bytes: Uint8Array, known: StateVector, options: Options = {}): Verdict {
  try {
    return { ok: true, value: new Validation(bytes, known, options).run() }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: error.fault }
    throw error
  }
}

class Validation {
  private readonly reader: UpdateReader
  private readonly known: StateVector
  private readonly options: Options
  private readonly bounds: Bounds
  private readonly clients = new Map<number, Client>()
  private lastClient: Client | undefined
  /** Clients of which nothing is known. */
  private strangers = 0
  private structs = 0
  private subdocs = 0
  private deletes = 0
  private isNews = false
  /** How many items before the last one Yjs will join with it, and what they hold. */
  private joins = 0
  private lastRef: number = contentRefs.gc
  private copies = 0
  /** Whether the order or the place of structs can be wrong, or is asked for. */
  private needsOrder: boolean

  constructor(bytes: Uint8Array, known: StateVector, options: Options) {
    this.reader = new UpdateReader(bytes, options.isStored)
    this.known = known
    this.options = options
    this.needsOrder = options.placeOf !== undefined
    this.bounds = options.bounds ? { ...defaultBounds, ...options.bounds } : defaultBounds
  }

  run(): Accepted {
    const { reader, bounds } = this
    if (reader.left > bounds.bytes) this.refuseMore('bytes')
    const clients = reader.count(5)
    if (clients > bounds.clients) this.refuseMore('clients')
    let previous = Infinity
    for (let i = 0; i < clients; i++) previous = this.readStructs(previous)
    this.readDeleteSet()
    if (reader.left > 0) reader.refuse('malformed', 'Bytes are left over.')
    if (this.needsOrder) {
      const { placeOf = anywhere, isStored = false } = this.options
      checkOrder(this.clients.values(), { placeOf, maxNesting: bounds.nesting, allowsParts: isStored })
    }
    return this.summary()
  }

  private summary(): Accepted {
    const clocks = new Map<number, number>()
    const clients: number[] = []
    const changes: Change[] = []
    for (const client of this.clients.values()) {
      const { id, known, end, isNamed, deletes } = client
      if (isNamed) clocks.set(id, end)
      if (end > known) clients.push(id)
      if (this.options.placeOf && (end > known || deletes)) changes.push(changeOf(client))
    }
    return { clocks, isNews: this.isNews, structs: this.structs, clients, changes }
  }

  private refuseMore(what: 'bytes' | 'clients' | 'structs' | 'deletes' | 'subdocs'): never {
    this.reader.refuse('too_large', `The update has more than ${this.bounds[what]} ${what}.`)
  }

  private readClient(): Client {
    const id = this.reader.uint()
    if (this.lastClient?.id === id) return this.lastClient
    let client = this.clients.get(id)
    if (client === undefined) {
      const known = this.known.get(id) ?? 0
      if (known === 0 && ++this.strangers > this.bounds.clients) {
        this.reader.refuse('gap', 'It refers to many clients that are not known.')
      }
      client = {
        id,
        known,
        end: known,
        isNamed: false,
        structs: [],
        settled: 0,
        isWaiting: false,
        deletes: undefined,
      }
      this.clients.set(id, client)
    }
    this.lastClient = client
    return client
  }

  /**
   * Answers the client. The highest comes first, as every encoder writes them: where Yjs merges updates, it relies on that
   * and loses structs.
   */
  private readStructs(previous: number): number {
    const { reader } = this
    const count = reader.count(2)
    this.structs += count
    if (this.structs > this.bounds.structs) this.refuseMore('structs')
    const client = this.readClient()
    const { id, known } = client
    if (count === 0) reader.refuse('malformed', `Client ${id} is named without structs.`)
    if (id >= previous) reader.refuse('malformed', 'Clients are not in order.')
    client.isNamed = true
    let clock = reader.uint()
    if (clock > known)
      reader.refuse('gap', `Client ${id} goes on at ${clock}, but is known to ${known} only.`)

    this.joins = 0
    this.lastRef = contentRefs.gc
    for (let i = 0; i < count; i++) clock = this.readStruct(client, clock)
    if (clock <= known) return id
    client.end = clock
    this.isNews = true
    if (this.options.mayWrite?.(id) === false) {
      reader.refuse('foreign_client', `The sender may not write as client ${id}.`)
    }
    return id
  }

  /** Answers the clock after it. */
  private readStruct(client: Client, start: number): number {
    const { reader } = this
    const info = reader.byte()
    const ref = info & 31
    if (ref === contentRefs.skip) return this.readSkip(client, start)
    const isItem = ref !== contentRefs.gc
    const hasRight = isItem && (info & 0x40) !== 0
    const namesParent = isItem && (info & 0xc0) === 0
    const isChild = namesParent && this.readsParentId()
    const isEntry = namesParent && (info & 0x20) !== 0
    const left = isChild || (isItem && (info & 0x80) !== 0) ? this.readClient() : undefined
    const leftClock = left ? reader.uint() : 0
    const right = hasRight ? this.readClient() : undefined
    const rightClock = right ? reader.uint() : 0
    if (isEntry) reader.key(this.bounds.nameLength)
    const length = isItem ? readContent(reader, ref, this.bounds) : reader.uint()
    if (ref === contentRefs.subdocument && ++this.subdocs > this.bounds.subdocs) this.refuseMore('subdocs')

    const end = start + length
    if (length === 0) reader.refuse('malformed', 'A struct is empty.')
    if (end > Number.MAX_SAFE_INTEGER) reader.refuse('malformed', 'A clock is too large.')
    const isNew = end > client.known
    // Yjs would cut the known part off, but throws where that part is collected.
    if (isNew && isItem && start < client.known && !this.options.isStored) {
      reader.refuse('gap', `An item of client ${client.id} is known in part.`)
    }
    if (left) this.checkLink(left, leftClock, client, start, isNew)
    if (right) this.checkLink(right, rightClock, client, start, isNew)
    if (!isNew) return end

    const struct: Struct = {
      start: Math.max(start, client.known),
      end,
      ref,
      left,
      leftClock,
      right,
      rightClock,
      isChild,
      isEntry,
      place: collected,
    }
    client.structs.push(struct)
    if (ref === contentRefs.type || isDivisible(struct)) this.needsOrder = true
    this.countCopies(ref, length, !isChild && left === client && leftClock === start - 1)
    return end
  }

  private readSkip({ id, known }: Client, start: number): number {
    const end = start + this.reader.uint()
    if (!this.options.isStored || end > known) this.reader.refuse('gap', `Client ${id} has structs left out.`)
    return end
  }

  /** Reads the name if the parent is a root type. */
  private readsParentId(): boolean {
    if (this.reader.uint() !== 1) return true
    this.reader.key(this.bounds.nameLength)
    return false
  }

  /** Yjs looks for what a struct refers to even if the struct is known, and takes it for present in its own client. */
  private checkLink(other: Client, clock: number, client: Client, start: number, isNew: boolean): void {
    if (other === client) {
      if (clock >= start) this.reader.refuse('malformed', 'A struct refers to itself or to a later one.')
    } else if (clock >= other.known) {
      if (!isNew) this.reader.refuse('gap', 'A known struct refers to one that is not known.')
      this.needsOrder = true
    }
  }

  private countCopies(ref: number, length: number, isNext: boolean): void {
    const joins = isNext && ref === this.lastRef && (ref === contentRefs.any || ref === contentRefs.json)
    this.joins = joins ? this.joins + 1 : 0
    this.lastRef = ref
    this.copies += this.joins * length
    if (this.copies > this.bounds.copies) {
      this.reader.refuse('too_large', 'Values of an array come in too many pieces.')
    }
  }

  private readDeleteSet(): void {
    const { reader } = this
    const clients = reader.count(2)
    for (let i = 0; i < clients; i++) {
      const client = this.readClient()
      const count = reader.count(2)
      if (client.deletes !== undefined) reader.refuse('malformed', `Client ${client.id} is named twice.`)
      this.deletes += count
      if (this.deletes > this.bounds.deletes) this.refuseMore('deletes')
      client.deletes = this.readRanges(client, count)
    }
  }

  /** In order and apart, as every encoder writes them: Yjs takes seconds for 50,000 in the wrong order. */
  private readRanges({ id, end: limit }: Client, count: number): Ranges {
    const { reader } = this
    const ranges: Ranges = []
    let previous = 0
    for (let i = 0; i < count; i++) {
      const clock = reader.uint()
      const length = reader.uint()
      const end = clock + length
      if (length === 0) reader.refuse('malformed', 'A delete is empty.')
      if (clock < previous) reader.refuse('malformed', 'Deletes are not in order.')
      if (end > limit) reader.refuse('future_delete', `Client ${id} is deleted beyond its clock ${limit}.`)
      addRange(ranges, clock, end)
      previous = end
      this.isNews ||= this.options.isDeleted?.(id, clock, length) !== true
    }
    return ranges
  }
}
