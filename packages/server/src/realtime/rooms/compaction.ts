import { sourceOf } from '../../crdt/document-threads.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database } from '../../store/engine/db.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { EditorRoom } from './room.ts'
import { Limiter } from '../../platform/turns/limiter.ts'

export interface CompactionDeps {
  database: Database
  crdt: Crdt
  log: Log
  now: () => number
}

/** With two, one document is built while the other is read or written. */
const maxConcurrentCompactions = 2
/** A failed compaction may fail again and take as long, so the editor is skipped for this time. */
const retryAfterMs = 60_000

/** Replaces long logs with snapshots, in the background. */
export class Compaction {
  readonly #deps: CompactionDeps
  /** Fair between API keys: slow documents of one API key do not delay other API keys. */
  readonly #gate = new Limiter(maxConcurrentCompactions)
  /** The time before which a room is not compacted, in epoch milliseconds. Infinity while it is being compacted. */
  readonly #notBefore = new WeakMap<EditorRoom, number>()

  constructor(deps: CompactionDeps) {
    this.#deps = deps
  }

  /** Compacts the editor if its log is long or it is nearly full. Call it when the log grew, or an update did not fit. */
  compactIfNeeded(room: EditorRoom): void {
    const { tail, snapshotBytes } = room.committed
    const isLong = editorLog.needsSnapshot(tail, snapshotBytes)
    if (!(isLong || room.isNearlyFull) || this.#deps.now() < (this.#notBefore.get(room) ?? 0)) return
    this.#notBefore.set(room, Infinity)
    this.#gate
      .run(room.apiKey, () => this.#compact(room))
      .then(
        () => {
          // A compaction for space that gains little must not be repeated immediately.
          if (isLong) this.#notBefore.delete(room)
          else this.#notBefore.set(room, this.#deps.now() + retryAfterMs)
        },
        (error: unknown) => {
          this.#deps.log.error({ err: error, ...room.ref }, 'an editor could not be compacted')
          this.#notBefore.set(room, this.#deps.now() + retryAfterMs)
        },
      )
  }

  /** Reads the stored rows, never the room: a bug in memory must not reach the snapshot. */
  async #compact(room: EditorRoom): Promise<void> {
    if (room.isDropped) return
    const { database, crdt } = this.#deps
    const { apiKey, ref } = room
    const stored = await editorLog.read(database.read, apiKey, ref)
    if (stored === undefined) return
    if (!stored.complete) throw new Error('Updates are missing from the log.')
    const { seq, snapshotSeq, createdAt } = stored
    if (seq === snapshotSeq) return
    const parts = stored.updates.map(({ bytes }) => bytes)
    const source = sourceOf(apiKey, ref, stored)
    const snapshot = await crdt.compact(source, stored.snapshot ? [stored.snapshot, ...parts] : parts)
    const done = await editorLog.compact(database, apiKey, ref, { snapshotSeq, seq, snapshot, createdAt })
    if (done && seq <= room.committed.seq) room.onCompacted(seq, snapshot)
  }
}
