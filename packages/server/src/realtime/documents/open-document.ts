import type { CloseReason } from '@plenum/protocol/realtime'
import type { LogRow } from '../../bus.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { SharedLists } from '../../peers/shared-lists.ts'
import type { Clock } from '../../platform/clock.ts'
import { decodeRow } from '../../peers/editor-rows.ts'
import { decodeSeq, documentAddress, editorAddress, sendNewestSeq } from '../../peers/hints.ts'
import type { Peers } from '../../peers/peers.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Scheduler } from '../../platform/turns/scheduler.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import type { StartQueue } from '../../platform/turns/start-queue.ts'
import { readSince } from '../../store/documents/live-state-log.ts'
import * as presence from '../../store/documents/presence.ts'
import type { Database } from '../../store/engine/db.ts'
import { documentKey, type DocumentRef } from '../../store/refs.ts'
import type { AccessVersions } from '../authorization/access-versions.ts'
import { type AuthorizedClient, Authorizer, type AuthorizerDeps } from '../authorization/authorizer.ts'
import { DocumentFeed } from '../live-states/document-feed.ts'
import type { ThreadReads } from '../live-states/changed-threads.ts'
import { createSessionVisible, type SessionUser } from '../../access/sessions/session-access.ts'
import { LivePresence } from '../presence/live-presence.ts'
import type { Appender } from '../rooms/appender.ts'
import { versionEventSteps } from '../rooms/broadcast.ts'
import type { VersionEvent } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { RoomLoader } from './room-loader.ts'
import { RoomSlot } from './room-slot.ts'

/** What all open documents share. */
export interface OpenDocumentDeps {
  database: Database
  evaluateAccess: AuthorizerDeps['evaluate']
  roomLoader: Pick<RoomLoader, 'load'>
  appender: Pick<Appender, 'catchUp' | 'receive' | 'makeSpace'>
  peers: Peers
  /** Limits client-triggered queries, fairly per user. */
  gate: Limiter
  /** Divides the time of the event loop between documents and clients. */
  scheduler: Scheduler
  /** Starts the reads of large live states in turns between API keys. */
  largeReads: StartQueue
  threadReads: ThreadReads
  /** Lists over all servers. */
  sharedLists: SharedLists
  clock: Clock
  log: Log
  onUpdateRefused: (reason: Fault['code']) => void
}

/** A client that has the document open. */
export interface DocumentMember extends AuthorizedClient {
  /** Whether the latest decision allows writing, even if that decision is stale. */
  readonly hasWriteRole: boolean
  /** Whether the client reports by itself when its user is idle. */
  readonly reportsIdleness: boolean
  /**
   * Warns of a token that expires soon, and sends what was skipped. Returns when it must be called again at the latest, in
   * epoch milliseconds.
   */
  sweep(now: number): number
}

/**
 * A document without activity in this many sweeps (3 s) is quiet: it is swept again after `maxQuietMs`, or when time alone
 * changes something in it. Most open documents are quiet, and a sweep visits all their clients.
 */
const quietSweeps = 6
const maxQuietMs = 10_000

/** A document that clients have open: its members, their access, presence, live states and open editors. */
export class OpenDocument implements DocumentRef {
  readonly apiKey: string
  readonly organizationId: string
  readonly documentId: string
  readonly members = new Set<DocumentMember>()
  /** By editor id. */
  readonly rooms = new Map<string, RoomSlot>()
  readonly presence: LivePresence
  /** The live states, and the changes of threads. */
  readonly feed: DocumentFeed
  /** How many live states of clients are not yet stored or refused. The clients may have left. */
  unsettledChanges = 0
  readonly #deps: OpenDocumentDeps
  readonly #accessVersions: AccessVersions
  readonly #onClosed: (document: OpenDocument) => void
  readonly #authorizer: Authorizer
  /** Ends the exchange with other servers. Call it when the document is dropped: until then, nothing in it may be old. */
  readonly endSharing: () => void
  /** Counts the changes of access that concern all members of this document. */
  #accessChanges = 0
  #sweepsSinceActivity = 0
  /** Until then, on the clock that only increases, there is nothing to sweep. */
  #quietUntil = 0

  constructor(options: {
    deps: OpenDocumentDeps
    apiKey: string
    ref: DocumentRef
    accessVersions: AccessVersions
    /** The document is closed: the next client that opens it must get a new object. */
    onClosed: (document: OpenDocument) => void
  }) {
    const { deps } = options
    this.#deps = deps
    this.apiKey = options.apiKey
    this.organizationId = options.ref.organizationId
    this.documentId = options.ref.documentId
    this.#accessVersions = options.accessVersions
    this.#onClosed = options.onClosed
    const { clock, evaluateAccess: evaluate } = deps
    const address = documentAddress(this.apiKey, this)
    const onError = (error: unknown) => this.#logError(error, 'an open document could not be read')
    this.#authorizer = new Authorizer({ clock, evaluate, onError }, this, this.members)
    const onServer = sendNewestSeq(deps.peers, 'document', address, () => this.feed.newestSeq)
    this.presence = new LivePresence({
      now: () => clock.now(),
      onError,
      read: (userIds) => this.#readPresence(userIds),
      run: (steps) => this.#run(steps),
      share: (source) => deps.sharedLists.create('presence', address, { ...source, onServer }),
    })
    this.feed = new DocumentFeed({
      readThreads: (...changes) =>
        this.#readThreads(() => deps.threadReads.readChanged(this.apiKey, this, ...changes)),
      readViewed: (...viewed) =>
        this.#readThreads(() => deps.threadReads.readViewed(this.apiKey, this, ...viewed)),
      visibleFor: (session) => this.#visibleFor(session),
      read: (seq) => this.#readLiveStates(seq),
      pause: () => deps.largeReads.wait(this.apiKey),
      onError,
      onGone: () => this.close('gone', 'The document was deleted.'),
    })
    // Another server has stored live states or threads.
    const unlisten = deps.peers.listen('document', address, (body) => {
      this.onActivity()
      if (decodeSeq(body) > (this.feed.position?.seq ?? 0)) this.feed.onStored()
    })
    this.endSharing = () => {
      unlisten()
      this.presence.close()
    }
  }

  /** The access version of a user in this document: increases with every change of access that concerns the user here. */
  accessVersionOf(userId: string): number {
    return this.#accessChanges + this.#accessVersions.of(userId)
  }

  /** Makes the decisions about all members stale. `authorize` renews them. */
  invalidateAccess(): void {
    // A sweep notices it too if `authorize` is late.
    this.onActivity()
    this.#accessChanges++
  }

  /** Decides again about every member whose decision is stale. */
  authorize(): Promise<void> {
    return this.#authorizer.authorize()
  }

  /** Resolves when the decision about the member is current, or the member is closed. The member may have left before. */
  decide(member: DocumentMember): Promise<void> {
    return this.#authorizer.decide(member)
  }

  /** Whether one of these users has the document open. */
  hasAny(userIds: ReadonlySet<string>): boolean {
    for (const { identity } of this.members) if (userIds.has(identity.userId)) return true
    return false
  }

  get clock(): Clock {
    return this.#deps.clock
  }

  /** Call it when anything happens in the document. A quiet document is then swept again. */
  onActivity(): void {
    this.#sweepsSinceActivity = 0
    this.#quietUntil = 0
  }

  leave(member: DocumentMember): void {
    this.onActivity()
    this.members.delete(member)
    this.presence.leave(member)
  }

  /** Call it when the member is granted access. Shows its user as present, unless it is a backend. */
  enter(member: DocumentMember): void {
    this.presence.open()
    if (member.identity.access !== 'backend') this.presence.enter(member, member.reportsIdleness)
  }

  /** Counts an update of an editor that was not stored. */
  countRefusedUpdate({ code }: Fault): void {
    this.#deps.onUpdateRefused(code)
  }

  /** Resolves with the room of an editor, which all callers share. Rejects if the room cannot be loaded. */
  openRoom(editorId: string): Promise<EditorRoom> {
    this.onActivity()
    const known = this.rooms.get(editorId)
    if (known) return known.loading
    const loading = this.#load(editorId)
    const slot = new RoomSlot(loading, this.#listenForRows(editorId))
    this.rooms.set(editorId, slot)
    loading.then(
      (room) => {
        slot.room = room
        if (this.rooms.get(editorId) === slot) room.relay.open()
        this.onActivity()
        if (slot.hasNewRows) void this.#deps.appender.catchUp(room)
      },
      () => this.#dropSlot(editorId, slot),
    )
    return loading
  }

  #load(editorId: string): Promise<EditorRoom> {
    const { apiKey, organizationId, documentId } = this
    return this.#deps.roomLoader.load({
      apiKey,
      ref: { organizationId, documentId, editorId },
      userId: this.#firstUserId,
      run: (steps) => this.#run(steps),
      onDropped: (room, reason, message) => {
        this.dropRoom(room)
        for (const member of room.members) member.close(reason, message)
        // An editor is deleted only with its document.
        if (reason === 'gone') this.close(reason, message)
      },
    })
  }

  /** The user in whose lane the database is read for the whole document. */
  get #firstUserId(): string {
    for (const { identity } of this.members) return identity.userId
    return ''
  }

  /**
   * Call it when updates of the editor were stored, or may have been, but not by its current room. `row`: the only new row, if
   * it is known.
   */
  onLogAppended(editorId: string, row?: LogRow): void {
    const slot = this.rooms.get(editorId)
    if (slot?.room && row) this.#deps.appender.receive(slot.room, row)
    else if (slot?.room) void this.#deps.appender.catchUp(slot.room)
    else if (slot) slot.hasNewRows = true
  }

  /** Listens for rows that other servers append to the log of the editor. */
  #listenForRows(editorId: string): () => void {
    const { peers } = this.#deps
    const { apiKey, organizationId, documentId } = this
    const address = editorAddress(apiKey, { organizationId, documentId, editorId })
    return peers.listen('editor', address, (body) => {
      const { seq, row } = decodeRow(body)
      const room = this.rooms.get(editorId)?.room
      if (row || !room || seq === undefined || seq > room.committed.seq) this.onLogAppended(editorId, row)
    })
  }

  /** Broadcasts the event to the clients that have the editor open. A client that opens it later reads the list itself. */
  onVersionsChanged(editorId: string, event: VersionEvent): void {
    const room = this.rooms.get(editorId)?.room
    if (room) this.#run(versionEventSteps(room.members, event))
  }

  /** Reads again everything that is stored, because all of it may have changed. */
  reload(): void {
    this.onActivity()
    void this.presence.reload()
    this.feed.onStored()
    for (const editorId of this.rooms.keys()) {
      this.onLogAppended(editorId)
      this.onVersionsChanged(editorId, { type: 'versionsChanged' })
    }
  }

  /** Drops a room. The next client that opens the editor gets a room that is loaded from the database. */
  dropRoom(room: EditorRoom): void {
    const slot = this.rooms.get(room.ref.editorId)
    if (slot?.room === room) this.#dropSlot(room.ref.editorId, slot)
  }

  #dropSlot(editorId: string, slot: RoomSlot): void {
    slot.end()
    if (this.rooms.get(editorId) === slot) this.rooms.delete(editorId)
  }

  #readPresence(userIds: readonly string[] | undefined): Promise<presence.PresenceEntry[]> {
    const { apiKey, organizationId, documentId } = this
    const { database, gate, clock } = this.#deps
    const read = () =>
      userIds
        ? presence.findMany(database.read, apiKey, this, userIds, clock.now())
        : presence.list(database.read, apiKey, organizationId, documentId, clock.now())
    return gate.run(apiKey, read, this.#firstUserId)
  }

  #readLiveStates(seq: number): ReturnType<typeof readSince> {
    const { database, gate, largeReads } = this.#deps
    const read = async () => {
      const states = await readSince(database.read, this.apiKey, this, seq, () =>
        largeReads.wait(this.apiKey),
      )
      // Clients are sent only what is durable.
      await database.durable()
      return states
    }
    return gate.run(this.apiKey, read, this.#firstUserId)
  }

  #readThreads<T>(read: () => Promise<T>): Promise<T> {
    return this.#deps.gate.run(this.apiKey, read, this.#firstUserId)
  }

  #visibleFor(session: SessionUser) {
    const { database, clock } = this.#deps
    if (session === 'backend') return undefined
    return createSessionVisible(database.read, this.apiKey, this.organizationId, session, clock.now())
  }

  /** Runs a broadcast in the document's share of time, so that it takes no user's share, and documents have equal shares. */
  #run(steps: Iterator<unknown>): void {
    const owner = { apiKey: this.apiKey, userId: `document ${documentKey(this)}` }
    const onError = (error: unknown) => this.#logError(error, 'a broadcast failed')
    this.#deps.scheduler.scheduleSteps(owner, steps, onError)
  }

  #logError(error: unknown, message: string): void {
    const { organizationId, documentId } = this
    this.#deps.log.error({ err: error, organizationId, documentId }, message)
  }

  /** Whether there is nothing to sweep at this time of the clock that only increases. */
  isQuiet(elapsed: number): boolean {
    return elapsed < this.#quietUntil
  }

  /** Called twice a second unless quiet: renews stale decisions, updates presence, resends what was missed, drops idle rooms. */
  sweep(): void {
    const elapsed = this.clock.elapsed()
    const now = this.clock.now()
    let nextAt = now + maxQuietMs
    let isCurrent = true
    for (const member of this.members) {
      isCurrent &&= member.isCurrent(now)
      nextAt = Math.min(nextAt, member.sweep(now))
    }
    // The entries that change now report only later when they change next.
    const changesPresence = now >= this.presence.nextChangeAt
    this.presence.sweep(now)
    if (!isCurrent) void this.authorize()
    let isQuiet =
      this.members.size > 0 && isCurrent && !changesPresence && ++this.#sweepsSinceActivity >= quietSweeps
    for (const slot of this.rooms.values()) {
      isQuiet = slot.sweep(this.#deps.appender.makeSpace) && isQuiet
      if (slot.isUnused && slot.room) this.dropRoom(slot.room)
    }
    if (isQuiet) this.#quietUntil = elapsed + Math.min(nextAt, this.presence.nextChangeAt) - now
  }

  /** Whether no client needs the document any more, and no change waits whose sender could lose access. */
  get isUnused(): boolean {
    return this.members.size === 0 && this.rooms.size === 0 && this.unsettledChanges === 0
  }

  /** Closes the document for all backends. */
  closeBackends(reason: CloseReason, message: string): void {
    for (const member of this.members) {
      if (member.identity.access === 'backend') member.close(reason, message)
    }
  }

  /** Closes the document for all members. A document that is stored under its id from now on is another document. */
  close(reason: CloseReason, message: string): void {
    this.#onClosed(this)
    const slots = [...this.rooms.values()]
    this.rooms.clear()
    for (const slot of slots) {
      slot.end()
      slot.room?.drop(reason, message)
    }
    this.presence.dropBackendEntries()
    this.feed.drop()
    for (const member of this.members) member.close(reason, message)
  }
}
