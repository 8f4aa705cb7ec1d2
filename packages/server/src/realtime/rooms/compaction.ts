import { sourceOf } from '../../crdt/document-threads.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database } from '../../store/engine/db.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { EditorRoom } from './room.ts'
import { Gate } from '../../platform/turns/gate.ts'

export interface CompactionParts {
  database: Database
  crdt: Crdt
  log: Log
  now: () => number
}

/** Documents are built one at a time; the next one is read and the last one written meanwhile. */
const mostAtOnce = 2
/** What failed may fail again and take as long: the editor is left alone for so long. */
const restMs = 60_000

/** Puts snapshots in the place of long logs. Nobody waits for one. */
export class Compaction {
  readonly #parts: CompactionParts
  /** A tenant whose documents take long keeps no other one waiting. */
  readonly #gate = new Gate(mostAtOnce)
  /** Until when a room is not tried, by the clock of the server. */
  readonly #rests = new WeakMap<EditorRoom, number>()

  constructor(parts: CompactionParts) {
    this.#parts = parts
  }

  /** Called whenever the log of the room grew, or something did not fit into it. */
  compactIfLong(room: EditorRoom): void {
    const { tail, snapshotBytes } = room.log
    const isLong = editorLog.isLong(tail, snapshotBytes)
    if (!(isLong || room.isScarce) || this.#parts.now() < (this.#rests.get(room) ?? 0)) return
    this.#rests.set(room, Infinity)
    this.#gate
      .pass(room.apiKey, () => this.#compact(room))
      .then(
        () => {
          // What makes little space must not be done again and again.
          if (isLong) this.#rests.delete(room)
          else this.#rests.set(room, this.#parts.now() + restMs)
        },
        (error: unknown) => {
          this.#parts.log.error({ err: error, ...room.place }, 'an editor could not be compacted')
          this.#rests.set(room, this.#parts.now() + restMs)
        },
      )
  }

  /** From what is stored, never from memory: a fault of ours in memory must not reach the snapshot. */
  async #compact(room: EditorRoom): Promise<void> {
    if (room.isDropped) return
    const { database, crdt } = this.#parts
    const { apiKey, place } = room
    const stored = await editorLog.read(database.read, apiKey, place)
    if (stored === undefined) return
    if (!stored.complete) throw new Error('Updates are missing from the log.')
    const { seq, snapshotSeq, createdAt } = stored
    const parts = stored.updates.map(({ bytes }) => bytes)
    const source = sourceOf(apiKey, place, stored)
    const snapshot = await crdt.compact(source, stored.snapshot ? [stored.snapshot, ...parts] : parts)
    const done = await editorLog.compact(database, apiKey, place, { snapshotSeq, seq, snapshot, createdAt })
    if (done && seq <= room.log.seq) room.compacted(seq, snapshot)
  }
}
