import type { CloseReason } from '@plenum/protocol/realtime'
import { backendUserIds } from '../../access/backend-users.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { Contents, Place } from '../../store/editors/editors.ts'
import { AwarenessStates } from './awareness/awareness.ts'
import { createAwarenessBroadcast } from './awareness/awareness-broadcast.ts'
import { broadcastRows } from './broadcast.ts'
import { ClientOwners } from './client-owners.ts'
import { CommittedLog } from './committed-log.ts'
import { mergeMany } from '../../crdt/crdt-work.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { EarlyUpdates } from './out-of-order-buffer.ts'
import {
  type Batch,
  isAllowed,
  isEarly,
  type Member,
  type Outcome,
  type Pending,
  readOnly,
  type Row,
  type StoredRow,
} from './member.ts'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import type { PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'
import { indexOf } from './stored-index.ts'
import { PostponedWork } from '../../platform/turns/postponed-work.ts'
import { RoomContent } from './room-content.ts'
import { RoomLimits } from './room-limits.ts'
import type { RoomParts } from './room-parts.ts'
import { StatelessRelay } from './stateless-relay.ts'
import { UpdateQueue } from './update-queue.ts'
import type { Accepted, Fault } from '../../crdt/updates/validate-update.ts'
import { withoutClients } from '../../crdt/updates/without-clients.ts'

/**
 * Chunks of deleted ranges that one update may touch: 200,000 deletes all over a document with millions take 25 ms, and
 * those beyond may count as news once more.
 */
const maxChunksPerUpdate = 2_048

/**
 * An open editor: what is stored of it, what waits to be stored, and who is to be told. A cache that may vanish at any
 * moment: nothing in it is acknowledged before it is durable, and no client sees what might not be.
 */
export class EditorRoom {
  readonly apiKey: string
  readonly place: Place
  readonly members = new Set<Member>()
  readonly awareness = new AwarenessStates((client) => this.#owners.ownerOf(client))
  readonly #awarenessBroadcast: PacedBroadcast<Member>
  readonly stateless: StatelessRelay
  readonly log: CommittedLog
  readonly content: RoomContent
  /** Knows everything that is stored, and what waits to be. */
  #index: DocumentIndex
  readonly #owners: ClientOwners
  readonly #limits: RoomLimits
  readonly #parts: Pick<RoomParts, 'crdt' | 'wake' | 'makeSpace' | 'drop'>
  readonly #early = new EarlyUpdates<Pending>()
  readonly #queue = new UpdateQueue<Pending>()
  #exists: boolean
  /** Tells the editor from one that is made under the same id after it was deleted. */
  #createdAt: number | undefined
  /** What the editor is declared to hold, as far as the room knows. A new editor is made with it. */
  declared: Contents
  /** Batches that are on their way to the disk. */
  #storing = 0
  /** What came while the index was being made anew; undefined otherwise. */
  #postponed: PostponedWork | undefined
  #isDropped = false

  constructor({ apiKey, place, index, stored, maxBytes, ...parts }: RoomParts) {
    this.#parts = parts
    this.apiKey = apiKey
    this.place = place
    this.#index = index
    this.#owners = new ClientOwners(stored?.owners ?? new Map(), (client, userId) => {
      this.awareness.owned(client, userId)
      this.awarenessChanged()
    })
    this.#exists = stored !== undefined
    this.#createdAt = stored?.createdAt
    this.declared = { type: stored?.type ?? null, contentKey: stored?.contentKey ?? null }
    this.log = new CommittedLog(stored)
    this.content = new RoomContent({
      log: this.log,
      crdt: parts.crdt,
      source: () => sourceOf(apiKey, place, { createdAt: this.#createdAt, seq: this.log.seq }),
      index: () => this.#index,
      isOpen: () => !this.#isDropped && this.members.size > 0,
    })
    this.#limits = new RoomLimits(this.log, this.#owners, maxBytes)
    const { awareness: states, members } = this
    this.#awarenessBroadcast = createAwarenessBroadcast({ states, members, run: parts.run })
    this.stateless = new StatelessRelay(members, parts.run)
  }

  get exists(): boolean {
    return this.#exists
  }

  stateVector(): Uint8Array {
    return this.#index.stateVector()
  }

  /** Confirms an update that holds nothing new, whoever sends it; false if it does. */
  confirm(from: Member, update: Uint8Array, outcome: Outcome): boolean {
    if (!this.#postponed) return this.#confirmNow(from, update, outcome)
    this.#postponed.add(update, () => {
      if (!this.#confirmNow(from, update, outcome)) outcome.refused(readOnly)
    })
    return true
  }

  #confirmNow(from: Member, update: Uint8Array, outcome: Outcome): boolean {
    const verdict = this.#index.check(update)
    if (!verdict.ok || verdict.value.isNews) return false
    this.#confirm({ sent: update, update, from, outcome, isNews: false, owners: [] })
    return true
  }

  /** The update must come from somebody who may write. */
  submit(from: Member, update: Uint8Array, outcome: Outcome): void {
    if (!this.#postponed) this.#submitNow(from, update, outcome)
    else this.#postponed.add(update, () => this.#submitAgain(from, update, outcome))
  }

  #submitNow(from: Member, update: Uint8Array, outcome: Outcome): void {
    const pending: Pending = { sent: update, update, from, outcome, isNews: true, owners: [] }
    const fault = this.#admit(pending)
    if (fault === undefined) return this.#admitEarly()
    if (!isEarly(fault)) return outcome.refused(fault)
    const refusal = this.#limits.refusalOfEarly(fault)
    if (refusal) return outcome.refused(refusal)
    // A client that writes through several connections may overtake itself.
    if (!fault.missing || !this.#early.hold(pending, fault.missing)) outcome.refused(fault)
    from.askForMore()
  }

  /** Access may have changed since it came. */
  #submitAgain(from: Member, update: Uint8Array, outcome: Outcome): void {
    if (from.mayStore === false) outcome.refused(readOnly)
    else this.#submitNow(from, update, outcome)
  }

  #admitEarly(): void {
    if (this.#postponed || !this.#early.hasReady) return
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
    const mayWrite = (client: number) => this.#owners.mayWrite(client, from.userId)
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
    const refusal = this.#limits.refusal(verdict.value, this.#queue.bytes, from.userId)
    if (refusal?.code === 'full') this.#parts.makeSpace(this)
    if (refusal) return refusal
    this.#learn(this.#index, verdict.value, maxChunksPerUpdate)
    pending.update = verdict.value.update
    pending.owners = this.#owners.add(verdict.value.clients, from.userId)
    this.#queue.push(pending)
    this.#parts.wake(this)
    return undefined
  }

  #learn(index: DocumentIndex, accepted: Accepted, maxChunks?: number): void {
    index.take(accepted, maxChunks)
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

  /** Whether these rows have clients whose owner is unknown. What REST writes has only the client of the server. */
  hasStrangers(rows: readonly StoredRow[]): boolean {
    return rows.some(
      ({ bytes, userId }) => userId !== backendUserIds.rest && this.#owners.hasStrangers(bytes),
    )
  }

  learnOwners(owners: ReadonlyMap<number, string>): void {
    this.#owners.learn(owners)
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
    return this.#queue.bytes + (this.#postponed?.bytes ?? 0)
  }

  /** Whether access has changed since the next updates were sent: `review` comes before `takeBatch`. */
  get mustReview(): boolean {
    return !this.#isDropped && !isAllowed({ pending: this.#queue.next() })
  }

  /**
   * Waits until it is known who may still write, and takes out of the queue what the others sent. Those are told that it is
   * not stored. The index knows it already, and what came after may build upon it, so the rest is checked once more.
   */
  async review(): Promise<void> {
    // A batch on its way is neither in the queue nor in the log.
    if (this.#storing > 0 || this.#postponed) return
    const undecided = new Set<Member>()
    for (const { from, isNews } of this.#queue) if (isNews && from.mayStore === undefined) undecided.add(from)
    await Promise.all(Array.from(undecided, (from) => from.decided()))
    const isLost = ({ isNews, from }: Pending) => isNews && from.mayStore === false
    if (this.#isDropped || this.#storing > 0 || ![...this.#queue].some(isLost)) return

    const waiting = this.#queue.take(this.#queue.length)
    const postponed = new PostponedWork()
    this.#postponed = postponed
    for (const { sent, from, outcome, isNews } of waiting) {
      postponed.add(sent, () => {
        if (isNews || !this.#confirmNow(from, sent, outcome)) this.#submitAgain(from, sent, outcome)
      })
    }
    const source = sourceOf(this.apiKey, this.place, { createdAt: this.#createdAt, seq: this.log.seq })
    const { index, seq } = await indexOf(this.log, source, this.#parts.crdt)
    this.#index = index
    // Rows of others that were published in this very moment.
    for (const bytes of this.log.partsAfter(seq)) {
      const verdict = index.check(bytes, { isStored: true })
      if (verdict.ok && verdict.value.isNews) index.take(verdict.value)
    }
    this.#owners.remove(waiting.flatMap(({ owners }) => owners))
    await postponed.run(() => !this.#isDropped)
    this.#postponed = undefined
    this.#admitEarly()
  }

  /** What waits, or the first part of it, as one row; called once a tick. */
  takeBatch(): Batch {
    // What waits in a room that was dropped may build upon what is not stored.
    if (this.#isDropped) return { entry: undefined, pending: [] }
    const pending = this.#queue.take()
    if (this.#queue.length > 0) this.#parts.wake(this)
    this.#storing++
    const news = pending.filter(({ isNews }) => isNews)
    const last = news.at(-1)
    if (last === undefined) return { entry: undefined, pending }
    return {
      pending,
      entry: {
        apiKey: this.apiKey,
        place: this.place,
        // A copy: what came from the socket is part of a larger buffer.
        update: news.length === 1 ? new Uint8Array(last.update) : mergeMany(news.map(({ update }) => update)),
        writer: { userId: last.from.userId, sessionId: last.from.sessionId },
        create: this.#exists ? null : this.declared,
        ...(this.#createdAt !== undefined && { createdAt: this.#createdAt }),
        owners: news.length === 1 ? last.owners : news.flatMap(({ owners }) => owners),
      },
    }
  }

  /** Whether a snapshot should be made to make space. */
  get isScarce(): boolean {
    return this.#limits.isScarce
  }

  /** A snapshot has taken the place of the rows up to that number. */
  compacted(seq: number, snapshot: Uint8Array): void {
    this.log.compacted(seq, snapshot)
    if (this.#limits.takeFreed()) for (const member of this.members) member.mayWrite()
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
    for (let index; index !== this.#index;) {
      index = this.#index
      for (const row of rows) {
        if (!(await this.#takeStored(index, row.bytes))) return false
        if (this.#isDropped) return true
      }
      // A review may have made the index anew.
    }
    // One of our own may have come back from the disk meanwhile.
    this.#publish(rows.filter(({ seq }) => seq > this.log.seq))
    return true
  }

  async #takeStored(index: DocumentIndex, update: Uint8Array): Promise<boolean> {
    const verdict = await index.checkStored(update)
    if (verdict.ok && verdict.value.isNews) this.#learn(index, verdict.value)
    return verdict.ok
  }

  #publish(rows: readonly Row[]): void {
    for (const { seq, bytes } of rows) this.log.append(seq, bytes)
    broadcastRows(this.members, rows)
    this.#admitEarly()
  }

  /** The batch was not stored, because access has changed. */
  putBack({ pending }: Batch): void {
    this.#storing--
    this.#queue.putBack(pending)
    this.#parts.wake(this)
  }

  settled({ pending }: Batch, seq: number): void {
    this.#storing--
    for (const { outcome, isNews } of pending) outcome.saved(seq, isNews)
  }

  awarenessChanged(): void {
    if (this.awareness.changes > 0) this.#awarenessBroadcast.start()
  }

  get isIdle(): boolean {
    return this.members.size === 0 && this.queuedBytes === 0 && this.#storing === 0
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
