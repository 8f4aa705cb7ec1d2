import type { LogRow } from '../../bus.ts'
import type { Signals } from '../../peers/signals.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import { SharedRuns } from '../../platform/turns/shared-runs.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { Row } from './queued-update.ts'
import type { EditorRoom } from './room.ts'

interface LogFollowerDeps {
  database: Database
  signals: Pick<Signals, 'whenCurrent'>
  /** Limits client-triggered queries, fairly per user. Only queries run in it: decisions about access wait for it too. */
  gate: Limiter
  crdt: Pick<Crdt, 'diff'>
  log: Log
  /** Called when the room has got rows. */
  onRows: (room: EditorRoom) => void
}

interface Following {
  runs: SharedRuns
  /** Rows that REST and other servers sent, in the order of their arrival. */
  sent: LogRow[]
  sentBytes: number
  /** Whether rows must be read, because not all were sent. */
  mustRead: boolean
  /** The user whose update needs these rows. */
  userId?: string | undefined
}

/** A room that gets more rows at a time reads them. */
const maxSent = 500
const maxSentBytes = 2 * 1024 * 1024

export const reloadedMessage = 'The document is being reloaded.'
export const documentGoneMessage = 'The document does not exist any more.'

/** Brings rooms up to date with rows that REST or other servers have stored. */
export class LogFollower {
  readonly #deps: LogFollowerDeps
  readonly #following = new Map<EditorRoom, Following>()

  constructor(deps: LogFollowerDeps) {
    this.#deps = deps
  }

  /** Reads and broadcasts the rows that the room misses. `userId`: the user whose update needs them. */
  catchUp(room: EditorRoom, userId?: string): Promise<void> {
    const following = this.#follow(room)
    following.mustRead = true
    following.userId ??= userId
    return this.#run(room, following)
  }

  /** Replaces owners of Yjs client ids that the room has assumed by the stored owners. */
  async readOwners({ apiKey, ref, owners }: EditorRoom): Promise<void> {
    owners.override(await editorLog.readOwners(this.#deps.database.read, apiKey, ref))
  }

  /** Broadcasts a row that REST or another server has stored and sent. If rows before it are missing, it reads them. */
  receive(room: EditorRoom, row: LogRow): void {
    const following = this.#follow(room)
    following.sentBytes += row.bytes.length
    if (following.sent.length < maxSent && following.sentBytes <= maxSentBytes) following.sent.push(row)
    else following.mustRead = true
    void this.#run(room, following)
  }

  /** The work that is under way. */
  get running(): Promise<void>[] {
    return Array.from(this.#following, ([room, following]) => this.#run(room, following))
  }

  get isIdle(): boolean {
    return this.#following.size === 0
  }

  #follow(room: EditorRoom): Following {
    const known = this.#following.get(room)
    if (known) return known
    const following: Following = {
      runs: new SharedRuns(() => this.#advance(room, following)),
      sent: [],
      sentBytes: 0,
      mustRead: false,
    }
    this.#following.set(room, following)
    return following
  }

  async #run(room: EditorRoom, { runs }: Following): Promise<void> {
    await runs.run()
    if (runs.isIdle) this.#following.delete(room)
  }

  async #advance(room: EditorRoom, following: Following): Promise<void> {
    const { sent, mustRead, userId } = following
    following.sent = []
    following.sentBytes = 0
    following.mustRead = false
    following.userId = undefined
    try {
      await this.#makeMembersCurrent(room)
      if (room.isDropped) return
      const missing = sent.filter(
        ({ seq, createdAt }) => seq > room.committed.seq || createdAt !== room.createdAt,
      )
      if (mustRead || !continues(room, missing)) await this.#readRows(room, userId)
      else if (missing.length > 0) {
        room.owners.override(missing.flatMap(({ owners }) => owners))
        await this.#apply(room, missing)
      }
    } catch (error) {
      this.#deps.log.error({ err: error, ...room.ref }, 'updates of an editor could not be read')
      room.drop('unavailable', 'The document could not be read.')
    }
  }

  /**
   * Rows arrive through Redis also when this server cannot reach the database, and so does not know who has lost access. It
   * broadcasts nothing then.
   */
  async #makeMembersCurrent({ members }: EditorRoom): Promise<void> {
    const reading = this.#deps.signals.whenCurrent()
    if (!reading) return
    await reading
    await Promise.all(Array.from(members, (member) => member.whenDecided()))
  }

  async #readRows(room: EditorRoom, userId: string | undefined): Promise<void> {
    const { apiKey, ref, createdAt } = room
    const after = { seq: room.committed.seq, createdAt }
    const found = await this.#read(room, userId, (db) => editorLog.readAfter(db, apiKey, ref, after))
    if (found === 'compacted') return this.#readSnapshot(room, userId)
    if (found === undefined) return this.#onMissing(room, createdAt)
    if (room.owners.hasUnknown(found.updates)) await this.readOwners(room)
    await this.#applyRead(room, found.createdAt, found.updates)
  }

  /**
   * Reads the whole log, because a compaction removed rows that the room lacks. In their place, the room applies one update with
   * all that the snapshot has and the room lacks.
   */
  async #readSnapshot(room: EditorRoom, userId: string | undefined): Promise<void> {
    const { apiKey, ref, createdAt: known } = room
    const { seq } = room.committed
    const found = await this.#read(room, userId, (db) => editorLog.read(db, apiKey, ref))
    const isOther = known !== undefined && found?.createdAt !== known
    if (!found || isOther || found.seq < seq) return this.#onMissing(room, known)
    if (!found.complete) throw new Error('Updates are missing from the log.')
    await this.readOwners(room)
    const { snapshot, snapshotSeq, createdAt, updates } = found
    if (!snapshot || snapshotSeq <= room.committed.seq) return this.#applyRead(room, createdAt, updates)
    const source = sourceOf(apiKey, ref, { createdAt, seq: snapshotSeq })
    const bytes = await this.#deps.crdt.diff(source, [snapshot], room.committedVector())
    await this.#applyRead(room, createdAt, [{ seq: snapshotSeq, bytes }, ...updates])
    if (!room.isDropped && room.committed.snapshotSeq < snapshotSeq) room.onCompacted(snapshotSeq, snapshot)
  }

  async #read<T>(room: EditorRoom, userId: string | undefined, read: (db: Db) => Promise<T>): Promise<T> {
    const { database, gate } = this.#deps
    const run = () => read(database.read)
    const found = await (userId === undefined ? run() : gate.run(room.apiKey, run, userId))
    // Clients are sent only what is durable.
    await database.durable()
    return found
  }

  /** `createdAt`: of the room before the read. The room may have created the editor since. */
  #onMissing(room: EditorRoom, createdAt: number | undefined): void {
    if (createdAt !== undefined) room.drop('gone', documentGoneMessage)
  }

  async #applyRead(room: EditorRoom, createdAt: number, rows: readonly Row[]): Promise<void> {
    room.createdAt = createdAt
    // Rows that this room stored may have been broadcast in the meantime.
    const newRows = rows.filter(({ seq }) => seq > room.committed.seq)
    if (newRows.length > 0) await this.#apply(room, newRows)
  }

  async #apply(room: EditorRoom, rows: Parameters<EditorRoom['applyRows']>[0]): Promise<void> {
    if (!(await room.applyRows(rows))) room.drop('restarting', reloadedMessage)
    this.#deps.onRows(room)
  }
}

/** Whether the rows follow the rows of the room without a gap. */
const continues = (room: EditorRoom, rows: readonly LogRow[]) =>
  rows.every(
    ({ seq, createdAt }, index) => createdAt === room.createdAt && seq === room.committed.seq + 1 + index,
  )
