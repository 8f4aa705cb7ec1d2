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
  /** Reads the rows that the room lacks. Drops the room if they were compacted or the editor was deleted. */
  catchUp: (room: EditorRoom) => Promise<void>
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
  /** Servers that have the same editor open compact it at different lengths, so that one does, and the others adopt the snapshot. */
  readonly #tailFactor: number

  constructor(deps: CompactionDeps) {
    this.#deps = deps
    this.#tailFactor = deps.database.exclusive ? 1 : 1 + Math.random() / 2
  }

  /** Compacts the editor if its log is long or it is nearly full. Call it when the log grew, or an update did not fit. */
  compactIfNeeded(room: EditorRoom): void {
    const { tail, snapshotBytes } = room.committed
    const { updates, bytes } = tail
    const factor = this.#tailFactor
    const isLong = editorLog.needsSnapshot(
      { updates: updates / factor, bytes: bytes / factor },
      snapshotBytes,
    )
    if (!(isLong || room.limits.isNearlyFull) || this.#deps.now() < (this.#notBefore.get(room) ?? 0)) return
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
    // The editor was deleted and created again, or another server or a REST write has made a snapshot.
    const isOther = createdAt !== room.createdAt
    const isNewer = snapshotSeq > room.committed.snapshotSeq
    if (isOther || seq === snapshotSeq || (isNewer && !isLong(stored))) return this.#adopt(room, stored)
    const parts = stored.updates.map(({ bytes }) => bytes)
    const source = sourceOf(apiKey, ref, stored)
    const snapshot = await crdt.compact(source, stored.snapshot ? [stored.snapshot, ...parts] : parts)
    const done = await editorLog.compact(database, apiKey, ref, { snapshotSeq, seq, snapshot, createdAt })
    // Otherwise the room does not have all these rows yet, and the next compaction tells it.
    if (done && seq <= room.committed.seq) room.onCompacted(seq, snapshot)
  }

  /** Tells the room of a snapshot that it does not know. A room of a deleted editor is dropped. */
  async #adopt(room: EditorRoom, { snapshotSeq, createdAt, snapshot }: editorLog.StoredLog): Promise<void> {
    const hasAll = () => createdAt === room.createdAt && snapshotSeq <= room.committed.seq
    if (!hasAll()) await this.#deps.catchUp(room)
    if (snapshot && hasAll() && !room.isDropped) room.onCompacted(snapshotSeq, snapshot)
  }
}

/** Whether the stored log should be compacted. */
function isLong({ updates, snapshot }: editorLog.StoredLog): boolean {
  const bytes = updates.reduce((sum, update) => sum + update.bytes.length, 0)
  return editorLog.needsSnapshot({ updates: updates.length, bytes }, snapshot?.length ?? 0)
}
