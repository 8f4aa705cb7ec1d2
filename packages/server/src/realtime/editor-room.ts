import type { CloseReason } from '@plenum/protocol/realtime'
import * as Y from 'yjs'
import { backendUserIds } from '../access/backend-users.ts'
import { sourceOf } from '../editors/document-threads.ts'
import { serverClientId } from '../editors/load.ts'
import type { EditorLog, Entry } from '../store/editor-log.ts'
import type { Place } from '../store/editors.ts'
import { AwarenessStates, type Owner } from './awareness.ts'
import { CommittedLog } from './committed-log.ts'
import type { Crdt } from './crdt.ts'
import { mergeMany } from './crdt-work.ts'
import type { DocumentIndex } from './document-index.ts'
import { EarlyUpdates } from './early-updates.ts'
import type { WorkOwner } from './fair-queue.ts'
import { UpdateQueue } from './update-queue.ts'
import type { Accepted, Fault } from './validate-update.ts'
import { withoutClients } from './without-clients.ts'

/** How a dialect puts things to its clients. Those with the same `key` get the very same bytes. */
export interface Framing {
  readonly key: string
  update(update: Uint8Array): Buffer
  awareness(update: Uint8Array): Buffer
}

/** A session that has the editor open. */
export interface Member extends Owner {
  readonly framing: Framing
  /** Whether it may write at this moment. */
  readonly canWrite: boolean
  send(frame: Buffer): void
  /** Leaves the frame out for a client that is behind. */
  sendIfQuick(frame: Buffer): void
  /** Sends instead of what was left out the state as it is now, if the client has caught up. */
  makeUp(): void
  /** The server lacks something that this client has. */
  askForMore(): void
  end(reason: CloseReason, message: string): void
}

/** What becomes of an update; one is called, once, unless its sender leaves or the room is dropped before. */
export interface Outcome {
  /** It is durable. Not `isNews`: it was before. */
  saved(seq: number, isNews: boolean): void
  /** Nothing of it is stored. `gap`: it will be, once what it builds upon is here. */
  refused(fault: Fault): void
}

interface Pending {
  update: Uint8Array
  from: Member
  outcome: Outcome
  isNews: boolean
}

export interface Row {
  seq: number
  bytes: Uint8Array
}

export interface StoredRow extends Row {
  userId: string
}

/** What one tick stores of a room. */
export interface Batch {
  entry: Entry | undefined
  pending: readonly Pending[]
}

export interface RoomParts {
  apiKey: string
  place: Place
  index: DocumentIndex
  /** Undefined: the editor does not exist yet. */
  stored: EditorLog | undefined
  crdt: Crdt
  /** There is something to store. */
  wake: (room: EditorRoom) => void
  /** Awareness has changed: call `publishAwareness` soon. */
  awarenessChanged: (room: EditorRoom) => void
  /** The room does not know any more what is stored. */
  drop: (room: EditorRoom, reason: CloseReason, message: string) => void
}

/** Yjs clients of one editor: each is in every joiner's state vector for ever. */
const mostClients = 100_000

/**
 * Chunks of deleted ranges that one update may touch: 200,000 deletes all over a document with millions take 25 ms, and
 * those beyond may count as news once more.
 */
const maxChunksPerUpdate = 2_048

/** What is checked in one go, in about 2 ms. */
const maxCheckedAtOnceBytes = 64 * 1024

/**
 * An open editor: what is stored of it, what waits to be stored, and who is to be told. A cache that may vanish at any
 * moment: nothing in it is acknowledged before it is durable, and no client sees what might not be.
 */
export class EditorRoom {
  readonly apiKey: string
  readonly place: Place
  readonly members = new Set<Member>()
  readonly awareness = new AwarenessStates((client) => this.#ownerOf(client))
  readonly log: CommittedLog
  /** Knows everything that is stored, and what waits to be. */
  readonly #index: DocumentIndex
  readonly #owners: Map<number, string>
  readonly #parts: Pick<RoomParts, 'crdt' | 'wake' | 'awarenessChanged' | 'drop'>
  readonly #early = new EarlyUpdates<Pending>()
  readonly #queue = new UpdateQueue<Pending>()
  #newOwners: [client: number, userId: string][] = []
  #exists: boolean
  /** Tells the editor from one that is made under the same id after it was deleted. */
  #createdAt: number | undefined
  #create: { type: EditorLog['type']; contentKey: string | null } = { type: null, contentKey: null }
  /** Batches that are on their way to the disk. */
  #storing = 0
  #isDropped = false

  constructor({ apiKey, place, index, stored, ...parts }: RoomParts) {
    this.#parts = parts
    this.apiKey = apiKey
    this.place = place
    this.#index = index
    this.#owners = new Map(stored?.owners)
    this.#exists = stored !== undefined
    this.#createdAt = stored?.createdAt
    this.log = new CommittedLog(stored)
  }

  /** What a client says that the editor holds; counts if it does not exist yet. */
  describe(type: EditorLog['type'], contentKey: string | null): void {
    if (!this.#exists) this.#create = { type, contentKey }
  }

  stateVector(): Uint8Array {
    return this.#index.stateVector()
  }

  /** Everything stored that a client with that state vector lacks, as one update. */
  async missingFor(stateVector: Uint8Array): Promise<Uint8Array> {
    const { parts, seq } = this.log
    const isNew = stateVector.length === 1 && stateVector[0] === 0
    const source = sourceOf(this.apiKey, this.place, { createdAt: this.#createdAt, seq })
    if (!isNew) return this.#parts.crdt.diff(source, parts, stateVector)
    const whole = await this.#parts.crdt.merge(source, parts)
    this.log.joined(seq, whole)
    return whole
  }

  /** Confirms an update that holds nothing new, whoever sends it; false if it does. */
  confirm(from: Member, update: Uint8Array, outcome: Outcome): boolean {
    const verdict = this.#index.check(update)
    if (!verdict.ok || verdict.value.isNews) return false
    this.#confirm({ update, from, outcome, isNews: false })
    return true
  }

  /** The update must come from somebody who may write. */
  submit(from: Member, update: Uint8Array, outcome: Outcome): void {
    const pending = { update, from, outcome, isNews: true }
    const fault = this.#admit(pending)
    if (fault === undefined) return this.#admitEarly()
    if (!isEarly(fault)) return outcome.refused(fault)
    // A client that writes through several connections may overtake itself.
    if (!fault.missing || !this.#early.hold(pending, fault.missing)) outcome.refused(fault)
    from.askForMore()
  }

  #admitEarly(): void {
    // Much may have changed since they came.
    const mayTry = ({ from }: Pending) => from.canWrite
    for (let next = this.#early.takeReady(mayTry); next; next = this.#early.takeReady(mayTry)) {
      const fault = this.#admit(next.item)
      if (fault === undefined) continue
      const isHeld = isEarly(fault) && fault.missing !== undefined && next.holdAgain(fault.missing)
      if (isHeld) continue
      next.item.outcome.refused(fault)
      if (isEarly(fault)) next.item.from.askForMore()
    }
  }

  /** Gives up on updates whose base did not come. */
  expireEarly(): void {
    for (const { outcome } of this.#early.takeExpired()) {
      outcome.refused({ code: 'gap', message: 'It builds upon something that did not arrive.' })
    }
  }

  #admit(pending: Pending): Fault | undefined {
    const { from } = pending
    const mayWrite = (client: number) => this.#mayWrite(client, from.userId)
    let verdict = this.#index.check(pending.update, { mayWrite })
    if (!verdict.ok && verdict.fault.code === 'foreign_client') {
      // Clients pass on what they heard from others by another way. Those will send it themselves.
      const own = withoutClients(pending.update, (client) => !mayWrite(client), this.#index.clocks)
      if (own === undefined) return verdict.fault
      verdict = this.#index.check(own, { mayWrite })
      if (verdict.ok && !verdict.value.isNews) {
        return { code: 'foreign_client', message: 'It holds nothing of its sender.' }
      }
      pending.update = own
    }
    if (!verdict.ok) return verdict.fault
    if (!verdict.value.isNews) {
      this.#confirm(pending)
      return undefined
    }
    if (this.#index.size > mostClients) {
      return { code: 'too_large', message: `The editor has more than ${mostClients} clients.` }
    }
    this.#learn(verdict.value, maxChunksPerUpdate)
    pending.update = verdict.value.update
    for (const client of verdict.value.clients) this.#own(client, from.userId)
    this.#queue.push(pending)
    this.#parts.wake(this)
    return undefined
  }

  #learn(accepted: Accepted, maxChunks = Infinity): void {
    this.#index.take(accepted, maxChunks)
    for (const { client, to } of accepted.changes) this.#early.arrived(client, to)
  }

  /** It is known; the sender hears so when what it is known from is durable. */
  #confirm(pending: Pending): void {
    pending.isNews = false
    if (this.#queue.length === 0 && this.#storing === 0) pending.outcome.saved(this.log.seq, false)
    else {
      this.#queue.push(pending)
      this.#parts.wake(this)
    }
  }

  /** The user who first wrote with a client id. What is said in awareness makes nobody an owner. */
  #ownerOf(client: number): string | undefined {
    return client === serverClientId ? backendUserIds.rest : this.#owners.get(client)
  }

  #mayWrite(client: number, userId: string): boolean {
    const owner = this.#ownerOf(client)
    return owner === undefined || owner === userId
  }

  #own(client: number, userId: string): void {
    if (this.#owners.has(client)) return
    this.#setOwner(client, userId)
    this.#newOwners.push([client, userId])
  }

  #setOwner(client: number, userId: string): void {
    this.#owners.set(client, userId)
    this.awareness.owned(client, userId)
    this.awarenessChanged()
  }

  /** Whether these rows have clients whose owner is unknown. What REST writes has only the client of the server. */
  hasStrangers(rows: readonly StoredRow[]): boolean {
    const isStranger = (client: number) => client !== serverClientId && !this.#owners.has(client)
    return rows.some(
      ({ bytes, userId }) =>
        userId !== backendUserIds.rest && [...Y.parseUpdateMeta(bytes).from.keys()].some(isStranger),
    )
  }

  /** What is stored counts, whoever has written here in the meantime. */
  learnOwners(owners: ReadonlyMap<number, string>): void {
    for (const [client, userId] of owners) this.#setOwner(client, userId)
  }

  /** Whether something waits to be stored or confirmed. */
  get hasWaiting(): boolean {
    return this.#queue.length > 0
  }

  /** Whose update is stored next. */
  get nextWriter(): WorkOwner {
    return { apiKey: this.apiKey, userId: this.#queue.first?.from.userId ?? '' }
  }

  /** Bytes that wait to be stored or confirmed. */
  get queuedBytes(): number {
    return this.#queue.bytes
  }

  /** What waits, or the first part of it, as one row; called once a tick. */
  takeBatch(): Batch {
    // What waits in a room that was dropped may build upon what is not stored.
    if (this.#isDropped) return { entry: undefined, pending: [] }
    const pending = this.#queue.take()
    if (this.#queue.length > 0) this.#parts.wake(this)
    const updates = pending.filter(({ isNews }) => isNews).map(({ update }) => update)
    const owners = this.#newOwners
    this.#newOwners = []
    this.#storing++
    const last = pending.findLast(({ isNews }) => isNews)
    if (last === undefined) return { entry: undefined, pending }
    return {
      pending,
      entry: {
        apiKey: this.apiKey,
        place: this.place,
        // A copy: what came from the socket is part of a larger buffer.
        update: updates.length === 1 ? Uint8Array.from(last.update) : mergeMany(updates),
        writer: { userId: last.from.userId, sessionId: last.from.sessionId },
        create: this.#exists ? null : this.#create,
        ...(this.#createdAt !== undefined && { createdAt: this.#createdAt }),
        owners,
      },
    }
  }

  get createdAt(): number | undefined {
    return this.#createdAt
  }

  /** It exists, made at that moment. */
  made(createdAt: number): void {
    this.#exists = true
    this.#createdAt = createdAt
  }

  /** Whether that row comes right after those that were told; if not, others lie between. */
  continues(seq: number): boolean {
    return seq === this.log.seq + 1
  }

  /** A row of our own is durable: everyone is sent it, its writers too, to whom it is the receipt. */
  takeOwn(row: Row): void {
    this.#publish([row])
  }

  /** The same for rows that others have stored. False if they do not fit. */
  async take(rows: readonly Row[]): Promise<boolean> {
    for (const row of rows) {
      if (!(await this.#knows(row.bytes))) return false
      if (this.#isDropped) return true
    }
    this.#publish(rows)
    return true
  }

  async #knows(update: Uint8Array): Promise<boolean> {
    const isLarge = update.length > maxCheckedAtOnceBytes
    const verdict = isLarge
      ? await this.#index.checkStored(update)
      : this.#index.check(update, { isStored: true })
    if (verdict.ok && verdict.value.isNews) this.#learn(verdict.value)
    return verdict.ok
  }

  /** Large rows are not merged, which would read all of them again. */
  #publish(rows: readonly Row[]): void {
    let bytes = 0
    for (const row of rows) {
      this.log.append(row.seq, row.bytes)
      bytes += row.bytes.length
    }
    const updates = rows.map((row) => row.bytes)
    const sent = bytes > maxCheckedAtOnceBytes ? updates : [mergeMany(updates)]
    for (const update of sent) this.#tell((framing) => framing.update(update))
    this.#admitEarly()
  }

  settled({ pending }: Batch, seq: number): void {
    this.#storing--
    for (const { outcome, isNews } of pending) outcome.saved(seq, isNews)
  }

  awarenessChanged(): void {
    if (this.awareness.hasChanges) this.#parts.awarenessChanged(this)
  }

  publishAwareness(): void {
    if (!this.awareness.hasChanges) return
    const update = this.awareness.takeChanges()
    this.#tell((framing) => framing.awareness(update), true)
  }

  /** Framed once for all who speak alike. */
  #tell(frame: (framing: Framing) => Buffer, mayBeMissed = false): void {
    const frames = new Map<string, Buffer>()
    for (const member of this.members) {
      const { framing } = member
      let bytes = frames.get(framing.key)
      if (bytes === undefined) frames.set(framing.key, (bytes = frame(framing)))
      if (mayBeMissed) member.sendIfQuick(bytes)
      else member.send(bytes)
    }
  }

  get isIdle(): boolean {
    return this.members.size === 0 && this.#queue.length === 0 && this.#storing === 0
  }

  /** Whether it is of no use any more. */
  get isDropped(): boolean {
    return this.#isDropped
  }

  /** Its members come back and find another one, loaded from what is stored. */
  drop(reason: CloseReason, message: string): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#parts.drop(this, reason, message)
  }
}

/** It may fit once something else has arrived. */
export const isEarly = ({ code }: Fault) => code === 'gap' || code === 'future_delete'
