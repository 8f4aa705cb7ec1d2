import type { Log } from '../platform/log.ts'
import type { Database } from '../store/db.ts'
import * as editorLog from '../store/editor-log.ts'
import type { Crdt } from './crdt.ts'
import type { Batch, EditorRoom } from './editor-room.ts'

export interface AppenderParts {
  database: Database
  crdt: Crdt
  log: Log
  now: () => number
}

/** Ticks begin at least so long after each other: what arrives meanwhile shares a transaction, a sync and a frame. */
const tickMs = 4

/**
 * Stores what waits in all rooms, in one transaction a tick, and tells the members once it is durable. One tick at a time:
 * the disk sets the pace.
 */
export class Appender {
  readonly #parts: AppenderParts
  #waiting = new Set<EditorRoom>()
  #busy: Promise<void> | undefined
  #lastTick = 0
  readonly #reading = new Map<EditorRoom, Promise<void>>()
  readonly #compacting = new Set<EditorRoom>()
  /** Since the start. */
  readonly stored = { updates: 0, updateBytes: 0, ticks: 0 }

  constructor(parts: AppenderParts) {
    this.#parts = parts
  }

  readonly wake = (room: EditorRoom): void => {
    this.#waiting.add(room)
    this.#busy ??= this.#run()
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#busy !== undefined || this.#reading.size > 0) {
      await this.#busy
      await Promise.all(this.#reading.values())
    }
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#nextTick()
      const rooms = this.#waiting
      this.#waiting = new Set()
      await this.#store(rooms)
    }
    this.#busy = undefined
  }

  async #nextTick(): Promise<void> {
    const rest = this.#lastTick + tickMs - performance.now()
    await new Promise<void>((resolve) => (rest > 1 ? setTimeout(resolve, rest) : setImmediate(resolve)))
    this.#lastTick = performance.now()
  }

  async #store(rooms: Iterable<EditorRoom>): Promise<void> {
    const { database, log, now } = this.#parts
    const batches = [...rooms].map((room): [EditorRoom, Batch] => [room, room.takeBatch()])
    const entries = batches.flatMap(([, { entry }]) => entry ?? [])
    let numbers: (number | undefined)[] = []
    try {
      const at = now()
      if (entries.length > 0) numbers = await database.write((db) => editorLog.append(db, entries, at))
    } catch (error) {
      log.error({ err: error, editors: entries.length }, 'updates of editors could not be stored')
      // Their indexes know what is not stored: they start again from what is.
      for (const [room] of batches) room.drop('unavailable', 'What was sent could not be stored.')
      return
    }
    this.stored.ticks++
    let next = 0
    for (const [room, batch] of batches) {
      this.stored.updates += batch.pending.length
      this.stored.updateBytes += batch.entry?.update.length ?? 0
      const seq = batch.entry === undefined ? room.log.seq : numbers[next++]
      try {
        if (seq === undefined) room.drop('gone', 'The document does not exist any more.')
        else this.#committed(room, batch, seq)
      } catch (error) {
        log.error({ err: error, ...room.place }, 'stored updates could not be told')
        room.drop('restarting', 'The document is loaded anew.')
      }
    }
  }

  #committed(room: EditorRoom, batch: Batch, seq: number): void {
    const update = batch.entry?.update
    if (update === undefined) room.settled(batch, seq)
    else if (room.continues(seq)) {
      room.take([{ seq, bytes: update }], true)
      room.settled(batch, seq)
      this.#compactIfLong(room)
    } else void this.catchUp(room).then(() => room.settled(batch, seq))
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
    const rows = await editorLog.readAfter(this.#parts.database.read, room.apiKey, room.place, room.log.seq)
    if (rows === undefined) {
      if (room.log.seq > 0) room.drop('gone', 'The document does not exist any more.')
    } else if (rows === 'compacted') room.drop('restarting', 'The document is loaded anew.')
    else if (rows.length > 0) {
      // Those of our own that have been told in the meantime.
      const news = rows.filter(({ seq }) => seq > room.log.seq)
      if (news.length > 0 && !room.take(news)) room.drop('restarting', 'The document is loaded anew.')
      this.#compactIfLong(room)
    }
  }

  #compactIfLong(room: EditorRoom): void {
    const { tail, snapshotBytes } = room.log
    if (!editorLog.isLong(tail, snapshotBytes) || this.#compacting.has(room)) return
    this.#compacting.add(room)
    void this.#compact(room)
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, ...room.place }, 'an editor could not be compacted')
      })
      .finally(() => this.#compacting.delete(room))
  }

  /** From what is stored, never from memory: a fault of ours in memory must not reach the snapshot. */
  async #compact(room: EditorRoom): Promise<void> {
    const { database, crdt } = this.#parts
    const { apiKey, place } = room
    const stored = await editorLog.load(database.read, apiKey, place)
    if (stored === undefined || !stored.complete) return
    const { seq, snapshotSeq, createdAt } = stored
    const parts = stored.updates.map(({ bytes }) => bytes)
    const snapshot = await crdt.compact(stored.snapshot ? [stored.snapshot, ...parts] : parts)
    const done = await database.write((db) =>
      editorLog.compactIf(db, apiKey, place, { snapshotSeq, seq, snapshot, createdAt }),
    )
    if (done && seq <= room.log.seq) room.log.compacted(seq, snapshot)
  }
}
