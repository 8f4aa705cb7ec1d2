import type { Peers } from '../../peers/peers.ts'
import type { Clock, StopTimer } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import { SharedRuns } from '../../platform/turns/shared-runs.ts'
import { findChangedDocuments, findChangedEditors } from '../../store/editors/positions.ts'
import type { Database } from '../../store/engine/db.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { OpenDocument } from './open-document.ts'

interface MissedChangesDeps {
  database: Database
  peers: Peers
  clock: Clock
  log: Log
  documents: () => Iterable<OpenDocument>
}

/** How often a server compares what it has open with the database, while messages of other servers do not reach it. */
const pollMs = 1_000
/** While they do, it compares less often: only servers that died after a commit, or have too many messages to send, sent none. */
const pollsPerRoundWithLink = 3
/** Editors or documents that one statement compares: about 3 ms of PostgreSQL. */
const maxPerStatement = 500

/**
 * Finds changes of open documents of which no message of another server has told. All changes are numbered, so it compares
 * numbers.
 */
export class MissedChanges {
  readonly #deps: MissedChangesDeps
  readonly #rounds = new SharedRuns(() => this.#round())
  #polls = 0
  #stopTimer: StopTimer = () => {}
  /** How many editors and documents were behind, since the start. */
  healed = 0

  constructor(deps: MissedChangesDeps) {
    this.#deps = deps
    deps.peers.onMessagesMissed(() => void this.find())
  }

  start(): void {
    const { database, clock, peers } = this.#deps
    if (database.exclusive) return
    this.#stopTimer = clock.setInterval(() => {
      if (!this.#rounds.isIdle) return
      if (++this.#polls % pollsPerRoundWithLink === 0 || !peers.isConnected) void this.find()
    }, pollMs)
  }

  stop(): void {
    this.#stopTimer()
  }

  /** Compares everything that is open. */
  async find(): Promise<void> {
    if (this.#deps.database.exclusive) return
    await this.#rounds
      .run()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'cannot read whether open documents have changed; trying again'),
      )
  }

  async #round(): Promise<void> {
    let documents: OpenDocument[] = []
    let rooms: [OpenDocument, EditorRoom][] = []
    for (const document of this.#deps.documents()) {
      await yieldIfLate()
      if (document.feed.position) documents.push(document)
      for (const { room } of document.rooms.values()) if (room) rooms.push([document, room])
      if (rooms.length >= maxPerStatement) rooms = await this.#compareRooms(rooms)
      if (documents.length >= maxPerStatement) documents = await this.#compareDocuments(documents)
    }
    await this.#compareRooms(rooms)
    await this.#compareDocuments(documents)
  }

  async #compareRooms(rooms: readonly [OpenDocument, EditorRoom][]): Promise<[]> {
    const known = rooms.map(([, { apiKey, ref, createdAt, committed }]) => ({
      apiKey,
      ref,
      createdAt: createdAt ?? null,
      seq: createdAt === undefined ? null : committed.seq,
    }))
    if (known.length === 0) return []
    for (const index of await findChangedEditors(this.#deps.database.read, known)) {
      const [document, room] = rooms[index] as [OpenDocument, EditorRoom]
      // Meanwhile the room may have got the rows.
      if (room.createdAt !== undefined && room.committed.seq !== known[index]?.seq) continue
      this.healed++
      document.onLogAppended(room.ref.editorId)
    }
    return []
  }

  async #compareDocuments(documents: readonly OpenDocument[]): Promise<[]> {
    const known = documents.map((document) => {
      const { epoch = '', seq = 0 } = document.feed.position ?? {}
      return { apiKey: document.apiKey, ref: document, createdAt: Number.parseInt(epoch, 36) || 0, seq }
    })
    if (known.length === 0) return []
    for (const index of await findChangedDocuments(this.#deps.database.read, known)) {
      const document = documents[index] as OpenDocument
      if (document.feed.position?.seq !== known[index]?.seq) continue
      this.healed++
      document.feed.onStored()
    }
    return []
  }
}
