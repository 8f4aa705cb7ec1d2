import { setImmediate as nextLoop } from 'node:timers/promises'
import type { Limits } from '../../config.ts'
import type { Bus, LogRow } from '../../bus.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../store/engine/db.ts'
import * as editorLog from '../../store/editors/log.ts'
import * as editors from '../../store/editors/editors.ts'
import type { Commits, Sender } from '../authorization/commits.ts'
import { type BatchWork, BatchWriter } from '../writes/batch-writer.ts'
import { encodeRow } from '../../peers/editor-rows.ts'
import { sendHint } from '../../peers/hints.ts'
import type { Peers } from '../../peers/peers.ts'
import type { Signals } from '../../peers/signals.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import { documentGoneMessage, LogFollower, reloadedMessage } from './log-follower.ts'
import { Compaction, type CompactionDeps } from './compaction.ts'
import { type Batch, isStorable, soleSenderOf } from './queued-update.ts'
import type { EditorRoom } from './room.ts'
import { FairQueue } from '../../platform/turns/fair-queue.ts'

export interface AppenderDeps extends Omit<CompactionDeps, 'catchUp'> {
  bus: Bus
  peers: Peers
  limits: Pick<Limits, 'editorsPerDocument'>
  commits: Commits
  signals: Pick<Signals, 'whenCurrent'>
  gate: Limiter
  clock?: Clock
  /** Returns which of these API keys have a webhook for changed editors. */
  editorEventsWantedBy: (db: Db, apiKeys: readonly string[]) => Promise<ReadonlySet<string>>
}

/**
 * Updates that arrive within one tick share a transaction, a sync and a frame. A tick that follows one with many rooms is
 * longer: with 2,000 updates of 100 rooms a second, ticks of 30 ms take a sixth less processor time than ticks of 12 ms.
 */
const minTickMs = 12
const maxTickMs = 30
const tickMsPerRoom = 0.5

/** On SQLite a tick blocks the event loop; these limits bound it. */
const maxRoomsPerTick = 200
const maxBytesPerTick = 4 * 1024 * 1024
/** How long merging the updates of one tick, or broadcasting them, may block the event loop. A room takes up to 5 ms. */
const maxBlockMs = 8

const notStoredMessage = 'What was sent could not be stored.'

type RoomBatch = readonly [EditorRoom, Batch]
/** One result for each batch that has an entry, in the order of the batches. */
type AppendResults = Awaited<ReturnType<typeof editorLog.appendSkippingLocked>>

/** Appends the queued updates of all rooms to their logs, and broadcasts them once they are durable. */
export class Appender implements BatchWork<RoomBatch, AppendResults> {
  readonly #deps: AppenderDeps
  readonly #writer: BatchWriter<RoomBatch, AppendResults>
  /** How many rooms the last tick has stored. */
  #lastRoomCount = 0
  /** The rooms that the next tick stores, in the order of their arrival. */
  #arrived = new Set<EditorRoom>()
  /** The rooms that did not fit into a tick. The users who wrote in them take turns. */
  readonly #late = new FairQueue<EditorRoom>()
  /** Reads rows of REST and other servers. */
  readonly #follower: LogFollower
  /** The rooms that are stored alone, because another transaction holds their row. No other room waits for them. */
  readonly #alone = new Map<EditorRoom, Promise<void>>()
  /** Rooms in which updates wait for rows of other servers. */
  readonly #catchingUp = new Set<Promise<void>>()
  /** The rooms whose queued updates are checked again, because access or the owner of a Yjs client id has changed. */
  readonly #reviewing = new Map<EditorRoom, Promise<void>>()
  readonly #compaction: Compaction
  /** Totals since the start of the server. */
  readonly stored = { updates: 0, updateBytes: 0, updateTransactions: 0 }

  constructor(deps: AppenderDeps) {
    this.#deps = deps
    this.#compaction = new Compaction({ ...deps, catchUp: (room) => this.catchUp(room) })
    this.#writer = new BatchWriter(deps, this)
    this.#follower = new LogFollower({
      ...deps,
      onRows: (room) => this.#compaction.compactIfNeeded(room),
    })
  }

  /** Stores the queued updates of the room in the next tick. */
  readonly wake = (room: EditorRoom): void => {
    if (this.#alone.has(room) || this.#reviewing.has(room)) return
    this.#arrived.add(room)
    this.#writer.wake()
  }

  /** Compacts the editor if that may make space in it. */
  readonly makeSpace = (room: EditorRoom): void => this.#compaction.compactIfNeeded(room)

  /** Resolves when no updates wait and no room is being read or checked. */
  async idle(): Promise<void> {
    const others = [this.#alone, this.#reviewing, this.#catchingUp]
    while (!this.#writer.isIdle || !this.#follower.isIdle || others.some(({ size }) => size > 0)) {
      await this.#writer.idle()
      await Promise.all([...this.#follower.running, ...others.flatMap((work) => [...work.values()])])
    }
  }

  /** A stop of the server waits for this work, after which updates may be stored. */
  readonly track = (work: Promise<void>): void => {
    this.#catchingUp.add(work)
    void work.finally(() => this.#catchingUp.delete(work))
  }

  get tickMs(): number {
    // Rooms that did not fit into the last tick have waited long enough.
    if (this.#late.size > 0) return minTickMs
    return Math.min(maxTickMs, minTickMs + this.#lastRoomCount * tickMsPerRoom)
  }

  /** How many editors have updates that wait to be stored. */
  get waiting(): number {
    return this.#arrived.size + this.#late.size + this.#alone.size + this.#reviewing.size
  }

  hasWaiting(): boolean {
    return this.#arrived.size > 0 || this.#late.size > 0
  }

  takeItems(): RoomBatch[] {
    const batches: RoomBatch[] = []
    let bytes = 0
    const endsAt = performance.now() + maxBlockMs
    const isFull = () =>
      batches.length >= maxRoomsPerTick || bytes > maxBytesPerTick || performance.now() >= endsAt
    const take = (room: EditorRoom) => {
      const batch = this.#takeBatch(room)
      if (batch) batches.push([room, batch])
      bytes += batch?.entry?.update.length ?? 0
    }
    const arrived = this.#arrived
    // A room adds itself again while it still has queued updates.
    this.#arrived = new Set()
    if (this.#late.size === 0 && arrived.size <= maxRoomsPerTick) {
      for (const room of arrived) {
        if (batches.length > 0 && isFull()) this.#late.add(room, room.nextWriter)
        else take(room)
      }
    } else {
      for (const room of arrived) this.#late.add(room, room.nextWriter)
      do this.#late.takeNext(take)
      while (this.#late.size > 0 && !isFull())
    }
    this.#lastRoomCount = batches.length
    return batches
  }

  #takeBatch(room: EditorRoom): Batch | undefined {
    try {
      if (!room.mustReview) return room.takeBatch()
      this.#review(room)
      return undefined
    } catch (error) {
      this.#deps.log.error({ err: error, ...room.ref }, 'queued updates could not be merged')
      room.drop('unavailable', notStoredMessage)
      return undefined
    }
  }

  /** Drops the rooms that would create more editors than a document may have. */
  async refuseUnstorable(batches: readonly RoomBatch[]): Promise<readonly RoomBatch[]> {
    if (!batches.some(createsEditor)) return batches
    const { database, limits } = this.#deps
    const max = limits.editorsPerDocument
    const left = new Map<string, number>()
    const storable: RoomBatch[] = []
    for (const one of batches) {
      const [{ apiKey, ref }] = one
      if (createsEditor(one)) {
        const id = JSON.stringify([apiKey, ref.organizationId, ref.documentId])
        const free = left.get(id) ?? max - (await editors.count(database.read, apiKey, ref, max))
        left.set(id, free - 1)
        if (free <= 0) {
          one[0].drop('tooMany', `A document has at most ${max} editors (LIMIT_EDITORS_PER_DOCUMENT).`)
          continue
        }
      }
      storable.push(one)
    }
    return storable
  }

  originOf(batches: readonly RoomBatch[]): { apiKeys: Set<string>; senders: Sender[] } {
    const apiKeys = new Set<string>()
    const senders: Sender[] = []
    for (const [, { entry, updates }] of batches) {
      if (entry) apiKeys.add(entry.apiKey)
      for (const { hasChanges, from } of updates) if (hasChanges) senders.push(from)
    }
    return { apiKeys, senders }
  }

  async store(db: Db, batches: readonly RoomBatch[], isAlone: boolean): Promise<AppendResults> {
    const entries = batches.flatMap(([, { entry }]) => entry ?? [])
    const apiKeys = new Set(entries.map(({ apiKey }) => apiKey))
    const announced = await this.#deps.editorEventsWantedBy(db, [...apiKeys])
    const append = isAlone ? editorLog.append : editorLog.appendSkippingLocked
    return append(db, entries, this.#deps.now(), announced)
  }

  /** Puts back the batches whose senders may not write any more or wait for a decision. Returns the others. */
  onAccessChanged(batches: readonly RoomBatch[]): RoomBatch[] {
    return batches.filter(([room, batch]) => {
      const canStore = isStorable(batch)
      if (!canStore) room.putBack(batch)
      return canStore
    })
  }

  /**
   * Drops the rooms, because their indexes include updates that were perhaps not stored. They are loaded again from the
   * log.
   */
  onFailed(batches: readonly RoomBatch[], error: unknown): void {
    const editors = batches.filter(([, { entry }]) => entry !== undefined).length
    this.#deps.log.error({ err: error, editors }, 'updates of editors could not be stored')
    for (const [room] of batches) room.drop('unavailable', notStoredMessage)
  }

  onRecovered(batches: readonly RoomBatch[]): void {
    for (const [room] of batches) {
      this.#notifySuccessor(room)
      sendHint(this.#deps.peers, { kind: 'editor', apiKey: room.apiKey, ...room.ref })
    }
  }

  async onStored(batches: readonly RoomBatch[], results: AppendResults = []): Promise<void> {
    this.stored.updateTransactions++
    let next = 0
    let endsAt = performance.now() + maxBlockMs
    for (const [room, batch] of batches) {
      if (performance.now() > endsAt) {
        await nextLoop()
        endsAt = performance.now() + maxBlockMs
      }
      const appended = batch.entry && results[next++]
      if (appended === 'locked') {
        this.#storeAlone(room, batch)
        continue
      }
      if (appended === 'claimed') {
        // Another server has stored an update of the owner, which the room has not read yet.
        room.putBack(batch, true)
        continue
      }
      this.stored.updates += batch.updates.length
      this.stored.updateBytes += batch.entry?.update.length ?? 0
      try {
        if (batch.entry === undefined) room.acknowledge(batch, room.committed.seq)
        else this.#onAppended(room, batch, batch.entry, appended)
      } catch (error) {
        this.#onBroadcastFailed(room, error)
      }
    }
  }

  #review(room: EditorRoom): void {
    const reviewing = this.#makeCurrent(room)
      .then(() => room.review())
      .catch((error: unknown) => {
        this.#deps.log.error({ err: error, ...room.ref }, 'queued updates could not be checked again')
        room.drop('unavailable', notStoredMessage)
      })
      .finally(() => {
        this.#reviewing.delete(room)
        if (room.hasWaiting) this.wake(room)
      })
    this.#reviewing.set(room, reviewing)
  }

  async #makeCurrent(room: EditorRoom): Promise<void> {
    if (!room.mustCatchUp) return
    await this.catchUp(room)
    await this.#follower.readOwners(room)
  }

  #storeAlone(room: EditorRoom, batch: Batch): void {
    const stored = this.#writer.storeAlone([room, batch], room.apiKey).finally(() => {
      this.#alone.delete(room)
      if (room.hasWaiting) this.wake(room)
    })
    this.#alone.set(room, stored)
    this.#arrived.delete(room)
    this.#late.delete(room)
  }

  #onAppended(
    room: EditorRoom,
    batch: Batch,
    entry: editorLog.Entry,
    appended: editorLog.Appended | undefined,
  ): void {
    if (appended) this.#sendToPeers(room, entry, appended)
    if (room.isDropped) return this.#notifySuccessor(room)
    if (!appended) return room.drop('gone', documentGoneMessage)
    const { seq, createdAt } = appended
    room.createdAt = createdAt
    // If not, REST or another server has stored rows in between.
    if (seq === room.committed.seq + 1) {
      room.broadcast([{ seq, bytes: entry.update }], soleSenderOf(batch))
      room.acknowledge(batch, seq)
      this.#compaction.compactIfNeeded(room)
    } else {
      this.catchUp(room)
        .then(() => room.acknowledge(batch, seq))
        .catch((error: unknown) => this.#onBroadcastFailed(room, error))
    }
  }

  #onBroadcastFailed(room: EditorRoom, error: unknown): void {
    this.#deps.log.error({ err: error, ...room.ref }, 'stored updates could not be broadcast')
    room.drop('restarting', reloadedMessage)
  }

  /** The room that replaces a dropped room may have been loaded before the rows of the dropped room were stored. */
  #notifySuccessor({ apiKey, ref }: EditorRoom): void {
    this.#deps.bus.publish({ kind: 'editor', apiKey, ...ref })
  }

  /** Reads and broadcasts rows that REST or another server has stored. `userId`: the user whose update needs them. */
  catchUp(room: EditorRoom, userId?: string): Promise<void> {
    return this.#follower.catchUp(room, userId)
  }

  /** Broadcasts a row that REST or another server has stored and sent. */
  receive(room: EditorRoom, row: LogRow): void {
    this.#follower.receive(room, row)
  }

  /** Other servers that have the editor open get the row, or read it. */
  #sendToPeers(
    room: EditorRoom,
    { update: bytes, owners }: editorLog.Entry,
    appended: editorLog.Appended,
  ): void {
    const { peers } = this.#deps
    room.appendedSeq = appended.seq
    if (peers.reaches(room.address)) {
      peers.send('editor', room.address, encodeRow({ ...appended, owners, bytes }, peers.carriesData))
    }
  }
}

const createsEditor = ([, { entry }]: RoomBatch) => entry !== undefined && entry.create !== null
