import type { CloseReason } from '@plenum/protocol/realtime'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { Contents } from '../../store/editors/editors.ts'
import type { EditorRef } from '../../store/refs.ts'
import { editorAddress } from '../../peers/hints.ts'
import { AwaitedItems } from './awaited-items.ts'
import { broadcastRows } from './broadcast.ts'
import { type CatchUpQueue, createCatchUpQueue, type Work } from './catch-up-queue.ts'
import { ClientOwners } from './client-owners.ts'
import { CommittedLog } from './committed-log.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { EditorRelay } from './editor-relay.ts'
import { OutOfOrderBuffer } from './out-of-order-buffer.ts'
import type { Member } from './member.ts'
import {
  type Batch,
  createBatch,
  hasLostAccess,
  isStorable,
  newUpdate,
  type Outcome,
  type QueuedUpdate,
  type Row,
  whenDecided,
} from './queued-update.ts'
import {
  isOutOfOrder,
  mayBeBehind,
  missingUpdate,
  readOnly,
  takenClientId,
  unknownOwner,
} from './refusals.ts'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import { addRowsAfter, buildStoredIndex } from './stored-index.ts'
import { PostponedWork } from './postponed-work.ts'
import { RoomContent } from './room-content.ts'
import { maxChunksPerUpdate, RoomLimits } from './room-limits.ts'
import type { RoomDeps } from './room-deps.ts'
import { withoutUpdates } from './state-vector.ts'
import { splitUpdate } from './split-update.ts'
import { UpdateQueue } from './update-queue.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { Accepted } from '../../crdt/updates/validate-update.ts'
import { type FutureDeletes, withoutClients } from '../../crdt/updates/without-clients.ts'

/**
 * An open editor: its committed rows, its queued updates and its members. A room is a cache that may be dropped at any
 * moment: no update is acknowledged or broadcast before it is durable.
 */
export class EditorRoom {
  readonly apiKey: string
  readonly ref: EditorRef
  /** Where other servers that have the editor open listen. */
  readonly address: string
  readonly members = new Set<Member>()
  /** Awareness and stateless messages. */
  readonly relay: EditorRelay
  readonly committed: CommittedLog
  readonly content: RoomContent
  /** The index of the committed rows and the queued updates together. */
  #index: DocumentIndex
  readonly owners: ClientOwners
  readonly limits: RoomLimits
  readonly #deps: Pick<RoomDeps<EditorRoom>, 'crdt' | 'wake' | 'makeSpace' | 'onDropped'>
  readonly #outOfOrder = new OutOfOrderBuffer<QueuedUpdate>()
  readonly #awaitedItems = new AwaitedItems()
  readonly #queue = new UpdateQueue<QueuedUpdate>()
  /** Undefined until the editor exists. Distinguishes it from one that is created under the same id after a deletion. */
  createdAt: number | undefined
  /** The type and key that are declared for the content, as far as the room knows. A new editor is created with them. */
  declared: Contents
  /** While the index is rebuilt, resolves when it is. */
  rebuilding: Promise<void> | undefined
  /** Collects the updates that arrive while the index is rebuilt. Otherwise undefined. */
  #postponed: PostponedWork | undefined
  /** Updates that may need rows of other servers. Undefined if there can be no other servers. */
  readonly #behind: CatchUpQueue | undefined
  /** The number of the newest row that this room has stored. */
  appendedSeq = 0
  /** How many rows the room has got that it did not broadcast when it stored them: most are of REST and other servers. */
  rowsOfOthers = 0
  /** Whether the room must read rows of other servers before `review`, because they make queued updates invalid. */
  mustCatchUp = false
  #isDropped = false

  constructor({ apiKey, ref, index, stored, maxBytes, ...deps }: RoomDeps<EditorRoom>) {
    this.#deps = deps
    this.apiKey = apiKey
    this.ref = ref
    this.address = editorAddress(apiKey, ref)
    this.#index = index
    this.owners = new ClientOwners(stored?.owners ?? new Map(), (clientId, userId) => {
      this.relay.awareness.onOwned(clientId, userId)
      this.relay.broadcastAwareness()
    })
    this.createdAt = stored?.createdAt
    this.declared = { type: stored?.type ?? null, contentKey: stored?.contentKey ?? null }
    this.committed = new CommittedLog(stored)
    this.content = new RoomContent({
      committed: this.committed,
      crdt: deps.crdt,
      source: () => sourceOf(apiKey, ref, { createdAt: this.createdAt, seq: this.committed.seq }),
      index: () => this.#index,
      isOpen: () => !this.#isDropped && this.members.size > 0,
    })
    this.limits = new RoomLimits(this.committed, this.owners, maxBytes)
    const ownerOf = (clientId: number) => this.owners.ownerOf(clientId)
    const newestSeq = () => Math.max(this.committed.seq, this.appendedSeq)
    this.#behind = createCatchUpQueue(this, deps)
    const { address, members } = this
    this.relay = new EditorRelay({ ...deps, address, members, ownerOf, newestSeq })
  }

  leave(member: Member): void {
    this.members.delete(member)
    this.relay.onLeft(member)
  }

  stateVector(): Uint8Array {
    return this.#index.stateVector()
  }

  /** The state vector of the committed rows, without queued updates. */
  committedVector(): Uint8Array {
    return withoutUpdates(this.#index.stateVector(), this.#queue.unsettledChanges())
  }

  /** Whether the state vector includes updates of this user that are not durable yet. They may still be refused. */
  hasUnstoredOf(userId: string): boolean {
    return this.#queue.hasUnsettled(({ hasChanges, from }) => hasChanges && from.userId === userId)
  }

  /** Runs the work now, or when the index is rebuilt, and after the earlier updates of the sender that wait. */
  #inOrder(from: Member, update: Uint8Array, work: Work): void {
    const follows = () => this.#behind?.follow(update, from, work) === true
    const run = () => void (follows() || work(!this.#behind))
    if (!this.#postponed) run()
    // While updates wait for rows, none of their senders is postponed, except after them.
    else if (this.#postponed.has(from) || !follows()) this.#postponed.add(update, run, from)
  }

  /** Acknowledges a duplicate, also for a sender who may not write. Stores the changes of the others. */
  submit(from: Member, update: Uint8Array, outcome: Outcome): void {
    this.#inOrder(from, update, (isCurrent) => this.#submitNow(from, update, outcome, isCurrent))
  }

  #submitNow(from: Member, update: Uint8Array, outcome: Outcome, isCurrent: boolean): void {
    // Access may have changed since the update arrived.
    if (from.mayStore === false) return this.#confirm(from, update, outcome, isCurrent)
    const queued = newUpdate(from, update, outcome, isCurrent)
    const fault = this.#validateAndQueue(queued)
    if (fault === undefined) return this.#retryOutOfOrder()
    if (this.#waitForRows(queued, fault)) return
    if (!isOutOfOrder(fault)) return outcome.refused(fault)
    const refusal = this.limits.refusalOfMissing(fault)
    if (refusal) return outcome.refused(refusal)
    // Updates of a client that uses several connections can arrive out of order.
    if (!fault.missing || !this.#outOfOrder.hold(queued, fault.missing)) outcome.refused(fault)
    from.requestMissingUpdates()
  }

  /** Acknowledges a duplicate of a sender who may not write, and refuses changes. */
  #confirm(from: Member, update: Uint8Array, outcome: Outcome, isCurrent: boolean): void {
    const verdict = this.#index.check(update)
    if (verdict.ok && !verdict.value.hasChanges)
      return this.#acknowledgeDuplicate(newUpdate(from, update, outcome, true))
    if (isCurrent || !this.#behind) return outcome.refused(readOnly)
    // The client may have got from another server what it sends now.
    this.#behind.addSuspect(update, from, () => this.#submitNow(from, update, outcome, true))
  }

  /** Submits the update again when the rows of other servers are read, if these may change whether it is valid. */
  #waitForRows({ from, sent, outcome, isCurrent }: QueuedUpdate, fault: Fault): boolean {
    if (isCurrent || !this.#behind || !mayBeBehind(fault)) return false
    const work = () => this.#submitNow(from, sent, outcome, true)
    if (fault === unknownOwner) this.#behind.add(sent, from, work)
    else this.#behind.addSuspect(sent, from, work)
    return true
  }

  #retryOutOfOrder(): void {
    if (this.#postponed || !this.#outOfOrder.hasReady) return
    // Access may have changed since these updates arrived.
    const mayTry = ({ from }: QueuedUpdate) => from.canWriteNow
    for (let next = this.#outOfOrder.takeReady(mayTry); next; next = this.#outOfOrder.takeReady(mayTry)) {
      const fault = this.#validateAndQueue(next.item)
      if (fault === undefined) continue
      const isHeld = isOutOfOrder(fault) && fault.missing !== undefined && next.holdAgain(fault.missing)
      if (isHeld) continue
      next.item.outcome.refused(fault)
      if (isOutOfOrder(fault)) next.item.from.requestMissingUpdates()
    }
  }

  /** Refuses the updates whose missing update did not arrive in time. Returns whether others still wait. */
  expireOutOfOrder(): boolean {
    for (const { outcome, from } of this.#outOfOrder.takeExpired()) {
      outcome.refused(missingUpdate)
      from.requestMissingUpdates()
    }
    this.#awaitedItems.keepOnly(this.members)
    return !this.#outOfOrder.isEmpty
  }

  /** Queues a valid update, and acknowledges a duplicate. Returns the fault of an update that cannot be stored now. */
  #validateAndQueue(queued: QueuedUpdate): Fault | undefined {
    const { from } = queued
    const mayWrite = (clientId: number) => this.relay.awareness.mayWrite(clientId, from.userId)
    let verdict = this.#index.check(queued.update, { mayWrite })
    if (!verdict.ok && verdict.fault.code === 'foreign_client') {
      // Clients relay updates that they received directly from other clients. The other clients send these themselves.
      const own = withoutClients(queued.update, (clientId) => !mayWrite(clientId), this.#index.clocks)
      if (own === undefined || (own.future && !queued.isCurrent)) return verdict.fault
      if (own.future) return this.#queueInParts(queued, own.update, own.future)
      verdict = this.#index.check(own.update, { mayWrite })
      if (verdict.ok && !verdict.value.hasChanges) {
        return { code: 'foreign_client', message: 'The update contains no changes by this client.' }
      }
      queued.update = own.update
    }
    if (!verdict.ok) return verdict.fault
    if (!verdict.value.hasChanges) {
      this.#acknowledgeDuplicate(queued)
      return undefined
    }
    const refusal = this.limits.refusal(verdict.value, this.#queue.bytes, from.userId)
    if (refusal?.code === 'full') this.#deps.makeSpace(this)
    if (refusal) return refusal
    if (!queued.isCurrent && !this.owners.areKnown(verdict.value.clients)) return unknownOwner
    this.#addToIndex(this.#index, verdict.value, maxChunksPerUpdate)
    queued.update = verdict.value.update
    queued.clients = verdict.value.clients
    queued.owners = this.owners.add(queued.clients, from.userId)
    this.#queue.push(queued)
    this.#deps.wake(this)
    return undefined
  }

  /** Queues the update, and holds its deletes of items that the server lacks until the items arrive. */
  #queueInParts(queued: QueuedUpdate, update: Uint8Array, future: FutureDeletes): Fault | undefined {
    const onLate = () => this.#awaitedItems.add(queued.from, future.clients)
    const { own, deletes } = splitUpdate(queued, update, future.update, onLate)
    const fault = this.#validateAndQueue(own)
    if (fault) return fault
    if (!this.#outOfOrder.hold(deletes, future.missing)) deletes.outcome.refused(missingUpdate)
    return undefined
  }

  #addToIndex(index: DocumentIndex, accepted: Accepted, maxChunks?: number): void {
    index.add(accepted, maxChunks)
    for (const { client, to } of accepted.changes) this.#outOfOrder.onClockAdvanced(client, to)
    for (const client of accepted.clients) this.#awaitedItems.onArrived(client)
  }

  /** A duplicate is acknowledged once the original is durable. */
  #acknowledgeDuplicate(queued: QueuedUpdate): void {
    queued.hasChanges = false
    if (this.#queue.length === 0 && !this.#queue.hasTaken) queued.outcome.saved(this.committed.seq, false)
    else {
      this.#queue.push(queued)
      this.#deps.wake(this)
    }
  }

  /** Whether updates wait to be stored or acknowledged. */
  get hasWaiting(): boolean {
    return this.#queue.length > 0
  }

  /** The user whose update is stored next. */
  get nextWriter(): WorkOwner {
    return { apiKey: this.apiKey, userId: this.#queue.first?.from.userId ?? '' }
  }

  /** The memory of the updates that wait to be stored or acknowledged. */
  get queuedBytes(): number {
    return this.#queue.bytes + (this.#postponed?.bytes ?? 0) + (this.#behind?.bytes ?? 0)
  }

  /** Whether access or owners may have changed since the next updates were queued. Then `review` must run before `takeBatch`. */
  get mustReview(): boolean {
    return !this.#isDropped && (this.mustCatchUp || !isStorable({ updates: this.#queue.next() }))
  }

  /**
   * Waits until all senders are authorized again, and refuses the queued updates of senders who lost access. The index
   * includes the refused updates, and later updates may depend on them. So the index is rebuilt, and all other queued updates
   * are checked again.
   */
  async review(): Promise<void> {
    // A batch that is being stored is neither in the queue nor in the log, so the index cannot be rebuilt now. The appender
    // and `putBack` wake the room again.
    if (this.#queue.hasTaken || this.#postponed) return
    await whenDecided(this.#queue)
    if (this.#isDropped || this.#queue.hasTaken || this.#postponed) return
    if (!this.mustCatchUp && ![...this.#queue].some(hasLostAccess)) return
    this.rebuilding = this.#rebuild().finally(() => (this.rebuilding = undefined))
    await this.rebuilding
  }

  async #rebuild(): Promise<void> {
    this.mustCatchUp = false
    const waiting = this.#queue.take(this.#queue.length)
    const postponed = new PostponedWork()
    this.#postponed = postponed
    for (const { sent, from, outcome, clients } of waiting) {
      postponed.add(sent, () => {
        // Otherwise it would look like a duplicate of what the other user wrote under the id.
        if (this.owners.areTaken(clients, from.userId)) outcome.refused(takenClientId)
        else this.#submitNow(from, sent, outcome, true)
      })
    }
    const { index, seq } = await buildStoredIndex(this.committed, this.content.source(), this.#deps.crdt)
    this.#index = index
    this.#queue.settle(waiting)
    addRowsAfter(seq, this.committed, index)
    this.owners.remove(waiting.flatMap(({ owners }) => owners))
    await postponed.run(() => !this.#isDropped, { onEmpty: () => (this.#postponed = undefined) })
    this.#retryOutOfOrder()
  }

  /** Takes queued updates and merges them into one row. Called once per tick. */
  takeBatch(): Batch {
    // Updates in a dropped room may depend on updates that are not stored.
    if (this.#isDropped) return { entry: undefined, updates: [] }
    const updates = this.#queue.take()
    if (this.#queue.length > 0) this.#deps.wake(this)
    return createBatch(updates, {
      apiKey: this.apiKey,
      editor: this.ref,
      create: this.createdAt === undefined ? this.declared : null,
      ...(this.createdAt !== undefined && { createdAt: this.createdAt }),
    })
  }

  /** A snapshot replaced the stored rows up to `seq`. */
  onCompacted(seq: number, snapshot: Uint8Array): void {
    this.committed.replaceWithSnapshot(seq, snapshot)
    if (this.limits.takeFreed()) for (const member of this.members) member.onWriteAllowed()
  }

  /** Indexes and broadcasts durable rows of REST and other servers. Resolves with false if a row cannot be indexed. */
  async applyRows(rows: readonly Row[]): Promise<boolean> {
    for (let index; index !== this.#index;) {
      index = this.#index
      const add = this.#addToIndex.bind(this, index)
      for (const { bytes } of rows) {
        if (!(await index.addStored(bytes, add)).ok) return false
        if (this.#isDropped) return true
      }
      // A review may have replaced the index.
    }
    // Rows of this room may have become durable meanwhile.
    const newRows = rows.filter(({ seq }) => seq > this.committed.seq)
    this.rowsOfOthers += newRows.length
    this.broadcast(newRows)
    return true
  }

  /** Broadcasts rows that are durable and in the index, also to their senders. For y-websocket, this is the acknowledgement. */
  broadcast(rows: readonly Row[], sender?: Member): void {
    for (const { seq, bytes } of rows) this.committed.append(seq, bytes)
    broadcastRows(this.members, rows, sender)
    this.#retryOutOfOrder()
  }

  /** Puts the updates of a batch that was not stored back into the queue. */
  putBack({ updates }: Batch, mustCatchUp = false): void {
    this.mustCatchUp ||= mustCatchUp
    this.#queue.putBack(updates)
    this.#deps.wake(this)
  }

  /** The batch is durable in the rows up to `seq`. */
  acknowledge({ updates }: Batch, seq: number): void {
    this.#queue.settle(updates)
    for (const { outcome, hasChanges } of updates) outcome.saved(seq, hasChanges)
  }

  /** Whether the room has no members and nothing to store, so that it can be dropped. */
  get isIdle(): boolean {
    return this.members.size === 0 && this.queuedBytes === 0 && !this.#queue.hasTaken
  }

  get isDropped(): boolean {
    return this.#isDropped
  }

  /** Drops the room and closes its members. Clients that reconnect get a new room that is loaded from the log. */
  drop(reason: CloseReason, message: string): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#deps.onDropped(this, reason, message)
  }
}
