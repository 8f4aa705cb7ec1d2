import { setImmediate as nextLoop } from 'node:timers/promises'
import type { Limits } from '../../config.ts'
import type { Bus } from '../../platform/bus.ts'
import type { Db } from '../../store/engine/db.ts'
import { whenCertain } from '../../store/engine/certainty.ts'
import * as editorLog from '../../store/editors/log.ts'
import * as editors from '../../store/editors/editors.ts'
import { AccessChanged, type Commits, type Sender } from '../authorization/commits.ts'
import { Compaction, type CompactionParts } from './compaction.ts'
import { type Batch, isAllowed } from './member.ts'
import type { EditorRoom } from './room.ts'
import { FairQueue } from '../../platform/turns/fair-queue.ts'
import { Gate } from '../../platform/turns/gate.ts'

export interface AppenderParts extends CompactionParts {
  bus: Bus
  limits: Pick<Limits, 'editorsPerDocument'>
  commits: Commits
}

/** Ticks begin at least so long after each other: what arrives meanwhile shares a transaction, a sync and a frame. */
const tickMs = 12

/** What one tick stores: on SQLite all of it takes its time at once. */
const maxPerTick = { rooms: 200, bytes: 4 * 1024 * 1024 }
/** How long the event loop may be held to merge what one tick stores, or to tell what was stored: a room takes up to 5 ms. */
const maxHoldMs = 8
/** Editors that are waited for at a time, each with a connection to the database. */
const maxStoredAlone = 4

/**
 * Stores what waits in all rooms, in one transaction a tick, and tells the members once it is durable. One tick at a time:
 * the disk sets the pace.
 */
export class Appender {
  readonly #parts: AppenderParts
  /** Rooms that the next tick stores, in the order in which they came. */
  #arrived = new Set<EditorRoom>()
  /** Those that did not fit into a tick: their owners take turns. */
  readonly #late = new FairQueue<EditorRoom>()
  #busy: Promise<void> | undefined
  #lastTick = 0
  readonly #reading = new Map<EditorRoom, Promise<void>>()
  /** Rooms whose editor somebody else is writing: they wait for that, and nobody waits with them. */
  readonly #alone = new Map<EditorRoom, Promise<void>>()
  readonly #gate = new Gate(maxStoredAlone)
  /** Rooms in which access has changed since updates were sent. */
  readonly #reviewing = new Map<EditorRoom, Promise<void>>()
  readonly #compaction: Compaction
  /** Since the start. */
  readonly stored = { updates: 0, updateBytes: 0, updateTransactions: 0 }

  constructor(parts: AppenderParts) {
    this.#parts = parts
    this.#compaction = new Compaction(parts)
  }

  readonly wake = (room: EditorRoom): void => {
    if (this.#alone.has(room) || this.#reviewing.has(room)) return
    this.#arrived.add(room)
    this.#busy ??= this.#run()
  }

  readonly makeSpace = (room: EditorRoom): void => this.#compaction.compactIfLong(room)

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    const others = [this.#reading, this.#alone, this.#reviewing]
    while (this.#busy !== undefined || others.some(({ size }) => size > 0)) {
      await this.#busy
      await Promise.all(others.flatMap((work) => [...work.values()]))
    }
  }

  async #run(): Promise<void> {
    while (this.#arrived.size > 0 || this.#late.size > 0) {
      await this.#nextTick()
      await this.#store(this.#takeBatches(), editorLog.appendFree)
    }
    this.#busy = undefined
  }

  #takeBatches(): [EditorRoom, Batch][] {
    const batches: [EditorRoom, Batch][] = []
    let bytes = 0
    const endsAt = performance.now() + maxHoldMs
    const isFull = () =>
      batches.length >= maxPerTick.rooms || bytes > maxPerTick.bytes || performance.now() >= endsAt
    const take = (room: EditorRoom) => {
      const batch = this.#takeBatch(room)
      if (batch) batches.push([room, batch])
      bytes += batch?.entry?.update.length ?? 0
    }
    const arrived = this.#arrived
    // A room of which a part is left comes again.
    this.#arrived = new Set()
    if (this.#late.size === 0 && arrived.size <= maxPerTick.rooms) {
      for (const room of arrived) {
        if (batches.length > 0 && isFull()) this.#late.add(room, room.nextWriter)
        else take(room)
      }
    } else {
      for (const room of arrived) this.#late.add(room, room.nextWriter)
      do this.#late.takeNext(take)
      while (this.#late.size > 0 && !isFull())
    }
    return batches
  }

  #takeBatch(room: EditorRoom): Batch | undefined {
    try {
      if (!room.mustReview) return room.takeBatch()
      this.#review(room)
      return undefined
    } catch (error) {
      this.#parts.log.error({ err: error, ...room.place }, 'updates could not be put together')
      room.drop('unavailable', 'What was sent could not be stored.')
      return undefined
    }
  }

  async #nextTick(): Promise<void> {
    const rest = this.#lastTick + tickMs - performance.now()
    await new Promise<void>((resolve) => (rest > 1 ? setTimeout(resolve, rest) : setImmediate(resolve)))
    this.#lastTick = performance.now()
  }

  async #store(taken: readonly [EditorRoom, Batch][], append: typeof editorLog.appendFree): Promise<void> {
    const { commits, database, log, now } = this.#parts
    let batches = taken
    let entries: editorLog.Entry[] = []
    let numbers: Awaited<ReturnType<typeof append>> = []
    try {
      batches = await this.#withinDocuments(batches)
      entries = batches.flatMap(([, { entry }]) => entry ?? [])
      const at = now()
      const apiKeys = new Set(entries.map(({ apiKey }) => apiKey))
      const work = async (db: Db) => (numbers = await append(db, entries, at))
      if (entries.length > 0) await commits.write(apiKeys, sendersOf(batches), work)
    } catch (error) {
      if (error instanceof AccessChanged) return this.#store(this.#stillAllowed(batches), append)
      log.error({ err: error, editors: entries.length }, 'updates of editors could not be stored')
      // Their indexes know what is not stored: they start again from what is.
      for (const [room] of batches) room.drop('unavailable', 'What was sent could not be stored.')
      void whenCertain(database).then(() => batches.forEach(([room]) => this.#tellSuccessor(room)))
      return
    }
    this.stored.updateTransactions++
    let next = 0
    let endsAt = performance.now() + maxHoldMs
    for (const [room, batch] of batches) {
      if (performance.now() > endsAt) {
        await nextLoop()
        endsAt = performance.now() + maxHoldMs
      }
      const appended = batch.entry && numbers[next++]
      if (appended === 'locked') {
        this.#storeAlone(room, batch)
        continue
      }
      this.stored.updates += batch.pending.length
      this.stored.updateBytes += batch.entry?.update.length ?? 0
      try {
        if (batch.entry === undefined) room.settled(batch, room.log.seq)
        else this.#committed(room, batch, batch.entry.update, appended)
      } catch (error) {
        this.#notTold(room, error)
      }
    }
  }

  /** Drops the rooms that would create more editors than a document may have; gives the others. */
  async #withinDocuments(batches: readonly [EditorRoom, Batch][]): Promise<readonly [EditorRoom, Batch][]> {
    if (!batches.some(createsEditor)) return batches
    const { database, limits } = this.#parts
    const max = limits.editorsPerDocument
    const left = new Map<string, number>()
    const kept: [EditorRoom, Batch][] = []
    for (const one of batches) {
      const [{ apiKey, place }] = one
      if (createsEditor(one)) {
        const id = JSON.stringify([apiKey, place.organizationId, place.documentId])
        const free = left.get(id) ?? max - (await editors.count(database.read, apiKey, place, max))
        left.set(id, free - 1)
        if (free <= 0) {
          one[0].drop('tooMany', `A document has at most ${max} editors (LIMIT_EDITORS_PER_DOCUMENT).`)
          continue
        }
      }
      kept.push(one)
    }
    return kept
  }

  /** Puts back what somebody sent who may not write any more; gives the others. */
  #stillAllowed(taken: readonly [EditorRoom, Batch][]): [EditorRoom, Batch][] {
    return taken.filter(([room, batch]) => {
      const isKept = isAllowed(batch)
      if (!isKept) room.putBack(batch)
      return isKept
    })
  }

  #review(room: EditorRoom): void {
    const reviewing = room
      .review()
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, ...room.place }, 'queued updates could not be checked again')
        room.drop('unavailable', 'What was sent could not be stored.')
      })
      .finally(() => {
        this.#reviewing.delete(room)
        if (room.hasWaiting) this.wake(room)
      })
    this.#reviewing.set(room, reviewing)
  }

  #storeAlone(room: EditorRoom, batch: Batch): void {
    const stored = this.#gate
      .pass(room.apiKey, () => this.#store([[room, batch]], editorLog.append))
      .finally(() => {
        this.#alone.delete(room)
        if (room.hasWaiting) this.wake(room)
      })
    this.#alone.set(room, stored)
    this.#arrived.delete(room)
    this.#late.delete(room)
  }

  #committed(room: EditorRoom, batch: Batch, bytes: Uint8Array, appended?: editorLog.Appended): void {
    if (room.isDropped) return this.#tellSuccessor(room)
    if (!appended) return room.drop('gone', 'The document does not exist any more.')
    const { seq, createdAt } = appended
    room.made(createdAt)
    if (room.continues(seq)) {
      room.takeOwn({ seq, bytes })
      room.settled(batch, seq)
      this.#compaction.compactIfLong(room)
    } else {
      this.catchUp(room)
        .then(() => room.settled(batch, seq))
        .catch((error: unknown) => this.#notTold(room, error))
    }
  }

  #notTold(room: EditorRoom, error: unknown): void {
    this.#parts.log.error({ err: error, ...room.place }, 'stored updates could not be told')
    room.drop('restarting', 'The document is loaded anew.')
  }

  /** The room that took the place of this one may have been loaded before the rows of this one were there. */
  #tellSuccessor({ apiKey, place }: EditorRoom): void {
    this.#parts.bus.publish({ kind: 'editor', apiKey, ...place })
  }

  /** Reads and tells what others have stored. */
  catchUp(room: EditorRoom): Promise<void> {
    const reading = (this.#reading.get(room) ?? Promise.resolve())
      .then(() => this.#readRows(room))
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, ...room.place }, 'updates of an editor could not be read')
        room.drop('unavailable', 'The document could not be read.')
      })
      .finally(() => {
        if (this.#reading.get(room) === reading) this.#reading.delete(room)
      })
    this.#reading.set(room, reading)
    return reading
  }

  async #readRows(room: EditorRoom): Promise<void> {
    const { apiKey, place, createdAt } = room
    if (room.isDropped) return
    const { database } = this.#parts
    const found = await editorLog.readAfter(database.read, apiKey, place, { seq: room.log.seq, createdAt })
    await database.durable()
    if (found === 'compacted') return room.drop('restarting', 'The document is loaded anew.')
    if (found === undefined) {
      if (createdAt !== undefined) room.drop('gone', 'The document does not exist any more.')
      return
    }
    if (room.hasStrangers(found.updates)) {
      room.learnOwners(await editorLog.readOwners(database.read, apiKey, place))
    }
    room.made(found.createdAt)
    // Not those of our own that have been told in the meantime.
    const news = found.updates.filter(({ seq }) => seq > room.log.seq)
    if (news.length === 0) return
    if (!(await room.take(news))) room.drop('restarting', 'The document is loaded anew.')
    this.#compaction.compactIfLong(room)
  }
}

const createsEditor = ([, { entry }]: readonly [EditorRoom, Batch]) =>
  entry !== undefined && entry.create !== null

function sendersOf(batches: readonly (readonly [EditorRoom, Batch])[]): Sender[] {
  const senders: Sender[] = []
  for (const [, { pending }] of batches) {
    for (const { isNews, from } of pending) if (isNews) senders.push(from)
  }
  return senders
}
