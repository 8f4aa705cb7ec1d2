import { CopyCounter } from './copy-counter.ts'
import { type Fault, Refusal } from './fault.ts'
import { codeInRoot, placeOfCode, collected, type ItemPlace } from './item-places.ts'
import { addRange, type Ranges } from './ranges.ts'
import { defaultBounds, type Bounds } from './update-bounds.ts'
import { changeOf, type Change } from './update-changes.ts'
import { contentRefs } from './update-contents.ts'
import { isDivisible, OrderCheck, maxStructsPerStep, type Client, type Struct } from './update-order.ts'
import { noClient, StructReader } from './update-structs.ts'
import { writeUpdate } from './update-writer.ts'

/** The next clock of each Yjs client. */
export type StateVector = Pick<ReadonlyMap<number, number>, 'get'>

export interface Options {
  bounds?: Partial<Bounds>
  /** Whether the sender may write with this Yjs client id. */
  mayWrite?: (client: number) => boolean
  /**
   * The place of a known item; undefined if it is garbage-collected. Without this option, known items are treated as
   * members of a root list. Then the validation does not find types that several updates together nest too deep, nor a
   * value with several parts that is placed beside a known value of its key.
   */
  placeOf?: (client: number, clock: number) => ItemPlace | undefined
  /** Whether the whole range is known as deleted. Without this option, every range is a change. */
  isDeleted?: (client: number, clock: number, length: number) => boolean
  /**
   * For updates of the log: the name `__proto__` is allowed, values of keys may have several parts, the update may skip
   * known structs, and an item may be partly known.
   */
  isStored?: boolean
}

export interface Accepted {
  /**
   * The update without known structs; an update of the log is unchanged. Store this one, not the one that was sent: when
   * Yjs merges updates, it may keep either of two structs with the same clock, and the struct of a hostile sender may have
   * other content.
   */
  update: Uint8Array
  /** The next clock, after the update, of each Yjs client that has structs in it. */
  clocks: Map<number, number>
  /** Whether the update adds structs or deletes. If not, it need not be stored or applied. */
  hasChanges: boolean
  /** How many structs were read, including known ones. */
  structCount: number
  /** The Yjs client ids that have new structs in the update. */
  clients: readonly number[]
  /** What the update adds to an index. Empty without `placeOf`. */
  changes: readonly Change[]
}

export type Verdict = { ok: true; value: Accepted } | { ok: false; fault: Fault }

const inRootList = placeOfCode(codeInRoot(false))
const alwaysInRootList = () => inRootList

/**
 * Whether a Yjs update (version 1) can be applied to a document with this state vector so that nothing stays pending,
 * nothing throws and the clocks become `clocks`. Takes time proportional to the bytes and never throws.
 */
export function validateUpdate(bytes: Uint8Array, known: StateVector, options: Options = {}): Verdict {
  try {
    const steps = new Validation(bytes, known, options).run()
    for (;;) {
      const { done, value } = steps.next()
      if (done) return { ok: true, value }
    }
  } catch (error) {
    return refusedWith(error)
  }
}

/** As `validateUpdate`, in steps of about a millisecond, for large updates of the log. */
export function* validateInSteps(
  bytes: Uint8Array,
  known: StateVector,
  options: Options = {},
): Generator<void, Verdict> {
  try {
    return { ok: true, value: yield* new Validation(bytes, known, options).run() }
  } catch (error) {
    return refusedWith(error)
  }
}

function refusedWith(error: unknown): Verdict {
  if (error instanceof Refusal) return { ok: false, fault: error.fault }
  throw error
}

class Validation {
  private readonly reader: StructReader
  private readonly known: StateVector
  private readonly options: Options
  private readonly bounds: Bounds
  private readonly clients = new Map<number, Client>()
  private lastClient: Client | undefined
  /** How many Yjs clients the update names or refers to that the document does not have. */
  private unknownClientCount = 0
  private structCount = 0
  /** How many structs of the current client are still unread. */
  private unreadCount = 0
  /** The clock of the next unread struct. */
  private clock = 0
  private subdocCount = 0
  private deleteCount = 0
  /** How many Yjs clients are only in the delete set, and have new deletes. */
  private deleterCount = 0
  private hasChanges = false
  private hasKnownStructs = false
  /** Where the delete set begins. */
  private deletesAt = 0
  private readonly copies = new CopyCounter()
  /** Whether structs can be in a wrong order or place, or the caller requests their places. */
  private needsOrder: boolean

  constructor(bytes: Uint8Array, known: StateVector, options: Options) {
    this.reader = new StructReader(bytes, options.isStored)
    this.known = known
    this.options = options
    this.needsOrder = options.placeOf !== undefined
    this.bounds = options.bounds ? { ...defaultBounds, ...options.bounds } : defaultBounds
  }

  *run(): Generator<void, Accepted> {
    const { reader, bounds } = this
    if (reader.bytesLeft > bounds.bytes) this.refuseMore('bytes')
    const clients = reader.count(5)
    if (clients > bounds.clients) this.refuseMore('clients')
    let previous = Infinity
    for (let i = 0; i < clients; i++) {
      const client = this.beginClient(previous)
      while (this.readStructs(client)) yield
      this.endClient(client)
      previous = client.id
    }
    this.readDeleteSet()
    if (reader.bytesLeft > 0) reader.refuse('malformed', 'The update has bytes after its end.')
    if (this.needsOrder) {
      const { placeOf = alwaysInRootList, isStored = false } = this.options
      const rules = { placeOf, maxNesting: bounds.nesting, allowsParts: isStored }
      for (const client of this.clients.values()) {
        if (client.placedCount === client.structs.length) continue
        const check = new OrderCheck(client, rules)
        while (check.step()) yield
      }
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
    return {
      update: this.withoutKnown(),
      clocks,
      hasChanges: this.hasChanges,
      structCount: this.structCount,
      clients,
      changes,
    }
  }

  private withoutKnown(): Uint8Array {
    const { bytes } = this.reader
    if (!this.hasKnownStructs || this.options.isStored) return bytes
    const sections = []
    for (const { id, known, structs, cut, from, to } of this.clients.values()) {
      if (structs.length > 0)
        sections.push({ client: id, clock: known, structCount: structs.length, cut, from, to })
    }
    return writeUpdate(bytes, sections, bytes.subarray(this.deletesAt))
  }

  private refuseMore(what: 'bytes' | 'clients' | 'structs' | 'deletes' | 'subdocs'): never {
    this.reader.refuse('too_large', `The update has more than ${this.bounds[what]} ${what}.`)
  }

  private clientOf(id: number): Client {
    if (this.lastClient?.id === id) return this.lastClient
    let client = this.clients.get(id)
    if (client === undefined) {
      const known = this.clockOf(id)
      client = {
        id,
        known,
        end: known,
        isNamed: false,
        structs: [],
        placedCount: 0,
        isWaiting: false,
        cut: 0,
        from: 0,
        to: 0,
        deletes: undefined,
      }
      this.clients.set(id, client)
    }
    this.lastClient = client
    return client
  }

  private clockOf(id: number): number {
    const known = this.known.get(id) ?? 0
    if (known === 0 && ++this.unknownClientCount > this.bounds.clients) {
      this.reader.refuse('gap', 'The update refers to too many unknown clients.')
    }
    return known
  }

  /**
   * Reads the client whose structs follow. Client ids must descend, as every encoder writes them: when Yjs merges updates,
   * it relies on this order, and loses structs otherwise.
   */
  private beginClient(previous: number): Client {
    const { reader } = this
    const count = reader.count(2)
    this.structCount += count
    if (this.structCount > this.bounds.structs) this.refuseMore('structs')
    const id = reader.uint()
    const client = this.clientOf(id)
    const { known } = client
    if (count === 0) reader.refuse('malformed', `Client ${id} is named without structs.`)
    if (id >= previous) reader.refuse('malformed', 'Clients are not in order.')
    client.isNamed = true
    const clock = reader.uint()
    if (clock > known) {
      const message = `Client ${id} goes on at ${clock}, but is known to ${known} only.`
      reader.refuse('gap', message, { client: id, clock })
    }
    if (clock < known) this.hasKnownStructs = true

    this.copies.beginClient()
    this.unreadCount = count
    this.clock = clock
    return client
  }

  /** Reads some structs of the client. Returns false when all are read. */
  private readStructs(client: Client): boolean {
    const some = Math.min(this.unreadCount, maxStructsPerStep)
    for (let i = 0; i < some; i++) this.clock = this.readStruct(client, this.clock)
    this.unreadCount -= some
    return this.unreadCount > 0
  }

  private endClient(client: Client): void {
    const { reader, clock } = this
    const { id, known } = client
    if (clock <= known) return
    client.end = clock
    client.to = reader.at
    this.hasChanges = true
    if (this.options.mayWrite?.(id) === false) {
      reader.refuse('foreign_client', `The sender may not write as client ${id}.`)
    }
  }

  /** Reads one struct. Returns the clock after it. */
  private readStruct(client: Client, start: number): number {
    const { reader, bounds } = this
    const from = reader.at
    reader.readStruct(bounds)
    const { ref, length, leftClient, leftClock, rightClient, rightClock, isChild, isEntry } = reader
    if (ref === contentRefs.skip) return this.skip(client, start)
    const left = leftClient === noClient ? undefined : this.clientOf(leftClient)
    const right = rightClient === noClient ? undefined : this.clientOf(rightClient)
    if (ref === contentRefs.subdocument && ++this.subdocCount > bounds.subdocs) this.refuseMore('subdocs')

    const end = start + length
    if (length === 0) reader.refuse('malformed', 'A struct is empty.')
    if (end > Number.MAX_SAFE_INTEGER) reader.refuse('malformed', 'A clock is too large.')
    const isNew = end > client.known
    // Yjs would cut off the known part, but throws if that part is garbage-collected.
    const isCut = isNew && start < client.known
    if (isCut && ref !== contentRefs.gc && !this.options.isStored) {
      const missing = { client: client.id, clock: end }
      reader.refuse('gap', `An item of client ${client.id} is known in part.`, missing)
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
    if (client.structs.length === 0) {
      client.from = isCut ? reader.at : from
      client.cut = isCut ? end - client.known : 0
    }
    client.structs.push(struct)
    if (ref === contentRefs.type || isDivisible(struct)) this.needsOrder = true
    this.copies.add(ref, length, !isChild && left === client && leftClock === start - 1)
    if (this.copies.total > bounds.copies) {
      reader.refuse('too_large', 'Values of an array come in too many pieces.')
    }
    return end
  }

  private skip({ id, known }: Client, start: number): number {
    const end = start + this.reader.length
    if (!this.options.isStored || end > known) {
      this.reader.refuse('gap', `Client ${id} has structs left out.`, { client: id, clock: end })
    }
    return end
  }

  /**
   * Checks a reference of a struct, even of a known struct: Yjs looks up all references, and assumes that the referred item
   * of the same client exists.
   */
  private checkLink(other: Client, clock: number, client: Client, start: number, isNew: boolean): void {
    if (other === client) {
      if (clock >= start) this.reader.refuse('malformed', 'A struct refers to itself or to a later one.')
    } else if (clock >= other.known) {
      if (!isNew) {
        const missing = { client: other.id, clock: clock + 1 }
        this.reader.refuse('gap', 'A known struct refers to one that is not known.', missing)
      }
      this.needsOrder = true
    }
  }

  /** Reads the delete set. An update that answers a state vector has all deletes of its sender, most of which are known. */
  private readDeleteSet(): void {
    const { reader } = this
    this.deletesAt = reader.at
    const ids: number[] = []
    const clients = reader.count(2)
    for (let i = 0; i < clients; i++) {
      const id = reader.uint()
      ids.push(id)
      const count = reader.count(2)
      this.deleteCount += count
      if (this.deleteCount > this.bounds.deletes) this.refuseMore('deletes')
      const client = this.clients.get(id)
      const known = client?.known ?? this.clockOf(id)
      const ranges = this.readRanges(id, known, client?.end ?? known, count)
      if (ranges === undefined) continue
      this.hasChanges = true
      if (client) client.deletes = ranges
      else if (this.deleterCount++ < this.bounds.deleters) this.clientOf(id).deletes = ranges
    }
    if (hasRepeats(ids)) reader.refuse('malformed', 'A client is named twice.')
  }

  /**
   * Returns the ranges that are not known as deleted, or undefined if there are none. All ranges must be ordered and
   * disjoint, as every encoder writes them: Yjs takes seconds for 50,000 in the wrong order.
   */
  private readRanges(id: number, known: number, limit: number, count: number): Ranges | undefined {
    const { reader } = this
    let ranges: Ranges | undefined
    let previous = 0
    for (let i = 0; i < count; i++) {
      const clock = reader.uint()
      const length = reader.uint()
      const end = clock + length
      if (length === 0) reader.refuse('malformed', 'A delete is empty.')
      if (clock < previous) reader.refuse('malformed', 'Deletes are not in order.')
      if (end > limit) {
        const message = `Client ${id} is deleted beyond its clock ${limit}.`
        reader.refuse('future_delete', message, { client: id, clock: end })
      }
      previous = end
      const isKnown = end <= known && this.options.isDeleted?.(id, clock, length) === true
      if (!isKnown) addRange((ranges ??= []), clock, end)
    }
    return ranges
  }
}

/** Encoders write the highest client id first. Then no set is needed to find repeated ids. */
function hasRepeats(ids: readonly number[]): boolean {
  const isDescending = ids.every((id, i) => i === 0 || id < (ids[i - 1] as number))
  return !isDescending && new Set(ids).size < ids.length
}
