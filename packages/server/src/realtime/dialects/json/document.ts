import type { SessionUser } from '../../../access/sessions/session-access.ts'
import {
  type AccessRole,
  type CloseReason,
  limits,
  type Position,
  type Topic,
} from '@plenum/protocol/realtime'
import type { Connection } from '../../sockets/connection.ts'
import type { Declaration, DeclarationRefusal } from '../../editors/declarations.ts'
import type { EditorRoom } from '../../rooms/room.ts'
import { textMessage } from '../../sockets/frames.ts'
import type { MessageOf } from '../../messages/message.ts'
import type { FeedChange, FeedSubscriber } from '../../live-states/document-feed.ts'
import { reloadFields } from '../../live-states/changed-threads.ts'
import type { ParticipantListener, Participant } from '../../documents/participant.ts'
import type { PresenceSubscriber } from '../../presence/presence-broadcast.ts'
import { RefFrames } from '../../sockets/ref-frames.ts'
import { WorkQueue } from '../../../platform/turns/work-queue.ts'
import type { JsonHost } from './host.ts'
import { LiveStateRequests } from './live-state-requests.ts'

/** The document is closed for a slow client that has missed the presence of more users: reopening it is cheaper. */
const maxMissedUsers = 50_000

/** Learns what happens to a document. */
export interface DocumentListener {
  onRoleChanged(document: JsonDocument): void
  onDocumentClosed(document: JsonDocument, reason: CloseReason, message: string): void
}

/** A document of a client at `/realtime`, under a ref that the client chose. */
export class JsonDocument implements ParticipantListener, PresenceSubscriber, FeedSubscriber {
  readonly reportsIdleness = true
  readonly participant: Participant
  readonly #host: JsonHost
  readonly #listener: DocumentListener
  readonly #request: MessageOf<'open'>
  #isOpen = false
  /** The client has closed the document. Nothing more is sent under its ref, which may belong to another document now. */
  #isLeaving = false
  /** Messages that arrived before the document was open. */
  readonly #waiting: WorkQueue
  readonly #liveStates: LiveStateRequests
  /** The sequence number up to which live states were sent. */
  #sentSeq = 0
  /** Users whose entries must still be sent: the client was busy, or the first list was full. */
  readonly #missedUsers = new Set<string>()
  #isCatchingUp = false
  /** The client was busy when its user viewed threads with another client. */
  #hasMissedViews = false
  /** The threads that changed after the position with which the client opened the document. */
  #missedThreads: { until: number; fields: string } | undefined

  constructor(host: JsonHost, listener: DocumentListener, request: MessageOf<'open'>) {
    this.#host = host
    this.#listener = listener
    this.#request = request
    this.participant = host.services.documents.join(host.connection, host.identity, request, this)
    const { participant } = this
    this.#liveStates = new LiveStateRequests(host, participant, (work) => this.run(work))
    this.#waiting = new WorkQueue(host.connection, {
      mayRun: () => participant.isCurrent(),
      onBlocked: () => participant.run(() => this.#waiting.start()),
      onError: () => participant.close('badMessage', 'The message is malformed.'),
    })
    participant.start()
  }

  get connection(): Connection {
    return this.#host.connection
  }

  /** The number under which client and server exchange messages about this document. */
  get wireRef(): number {
    return this.#request.ref
  }

  declare(room: EditorRoom, declaration: Declaration): Promise<DeclarationRefusal | undefined> {
    return this.#host.services.declarations.declare(room, declaration, this.participant)
  }

  get documentRef(): { organizationId: string; documentId: string } {
    return this.#request
  }

  onOpened(): void {
    this.#open().catch(() => this.participant.close('unavailable', 'The document cannot be read.'))
  }

  async #open(): Promise<void> {
    const { presence, feed } = this.participant.document
    if (this.#hasTopic('presence')) await presence.load()
    await feed.load(this.#request.since)
    await this.#loadMissedThreads()
    const { connection, services } = this.#host
    // A client that reconnects may have sent a live state on its earlier connection. That one is older than the next one.
    await services.largeMessages.whenEarlierRead(connection)
    if (connection.isOpen) await connection.answerInTurn(() => this.#answerWhenLoaded())
    // A client that has disconnected gets no answer, but the messages that it sent before are handled.
    if (!connection.isOpen && !this.#isOpen) await this.#answerWhenLoaded()
  }

  async #answerWhenLoaded(): Promise<void> {
    const { feed } = this.participant.document
    // The live states may have been dropped since they were loaded.
    while (!this.participant.hasLeft && !feed.position) await feed.load()
    if (this.participant.hasLeft) return
    // Many clients may have waited for the same load, and their answers may be large.
    const { scheduler, owner } = this.#host.connection
    await scheduler.scheduleOnce(owner, () => {
      // The live states may have been dropped again, and the client may have left.
      if (feed.position && !this.participant.hasLeft) this.#answer(feed.position)
    })
    if (!this.participant.hasLeft && !this.#isOpen) await this.#answerWhenLoaded()
  }

  /** Sends the current presence and live states, and subscribes, in one step. So the client misses no change in between. */
  #answer(position: Position): void {
    this.#isOpen = true
    if (!this.#isLeaving) {
      this.#sentSeq = position.seq
      const presence = this.#hasTopic('presence') ? this.participant.document.presence.all() : undefined
      this.#sendOpened(position, presence?.json)
      if (presence) {
        this.participant.document.presence.subscribe(this)
        this.#addMissed(presence.omittedUserIds)
      }
    }
    // Also without the topic: a document without subscribers drops its live states, and the next client reads them again.
    this.participant.document.feed.subscribe(this)
    this.#waiting.start()
  }

  #sendOpened(position: Position, presence: string | undefined): void {
    const { ref, since } = this.#request
    const { document, role } = this.participant
    const isResumed = since?.epoch === position.epoch && since.seq <= position.seq
    const fields = [
      `"type":"opened","ref":${ref},"accessRole":"${role}"`,
      `"position":${JSON.stringify(position)},"reset":${!isResumed}`,
    ]
    if (presence) fields.push(`"presence":${presence}`)
    if (this.wantsThreads) fields.push(`"threads":{${this.#takeMissedThreads(position, isResumed)}}`)
    if (this.#hasTopic('liveState')) {
      const states = document.feed.bytesSince(isResumed ? since.seq : 0)
      this.#sendLiveStates(`{${fields.join()},"liveStates":`, states)
    } else this.#sendLiveStates(`{${fields.join()}`, Buffer.alloc(0))
  }

  /** Sends a message that ends with these live states, which may be large. */
  #sendLiveStates(before: string, states: Buffer): void {
    const { apiKey, userId } = this.participant.identity
    const message = textMessage(Buffer.from(before), states, Buffer.from('}'))
    this.#host.connection.answer(message, { apiKey, userId, body: states, isHeld: () => false })
  }

  get session(): SessionUser {
    return this.participant.identity.access
  }

  get wantsLiveStates(): boolean {
    return this.#hasTopic('liveState')
  }

  get wantsThreads(): boolean {
    return this.#hasTopic('comments')
  }

  get #hasFeed(): boolean {
    return this.wantsLiveStates || this.wantsThreads
  }

  /** A client that connects again gets the threads that changed meanwhile, unless they are many. */
  async #loadMissedThreads(): Promise<void> {
    const { since } = this.#request
    const { feed } = this.participant.document
    if (!this.wantsThreads || since === undefined || since.epoch !== feed.position?.epoch) return
    this.#missedThreads = await feed.threadsSince(since.seq, this.session)
  }

  /** The fields of `threads` in `opened`. */
  #takeMissedThreads({ seq }: Position, isResumed: boolean): string {
    const missed = this.#missedThreads
    this.#missedThreads = undefined
    return isResumed && missed?.until === seq ? missed.fields : reloadFields
  }

  #hasTopic(topic: Topic): boolean {
    return this.#request.topics.includes(topic)
  }

  /** Runs `work` once the document is open and access is current. If the document closes first, `work` never runs. */
  run(work: () => void): void {
    this.participant.run(() => {
      if (this.#isOpen && this.#waiting.length === 0) work()
      else this.#waiting.push(work)
    })
  }

  setPresence({ ref, status, data }: MessageOf<'setPresence'>): void {
    const bytes = data ? Buffer.byteLength(data) : 0
    if (bytes > limits.presenceBytes) {
      const message = 'The data of a presence must not be larger than 16 KiB.'
      return this.#host.refuse({ ref }, 'INVALID_ARGUMENT', message)
    }
    this.run(() => {
      if (data !== undefined && !this.#host.connection.stateBudget.reserve(this, bytes)) {
        const message = 'A connection has at most 1 MiB of presence data and awareness states.'
        return this.#host.refuse({ ref }, 'RESOURCE_EXHAUSTED', message)
      }
      this.participant.document.presence.set(this.participant, { status, data })
    })
  }

  setLiveState(message: MessageOf<'setLiveState'>, bytes: number): void {
    this.#liveStates.set(message, bytes)
  }

  onPresenceChanged(frames: RefFrames, userIds: readonly string[]): boolean {
    const isSent = this.#missedUsers.size === 0 && !this.#host.connection.isBusy
    if (isSent) this.#push(frames)
    else this.#addMissed(userIds)
    return isSent
  }

  #addMissed(userIds: readonly string[]): void {
    this.participant.document.onActivity()
    for (const userId of userIds) this.#missedUsers.add(userId)
    if (this.#missedUsers.size > maxMissedUsers)
      this.participant.close('slow', 'The client reads too slowly.')
  }

  onFeedChanged({ from, states, threads, mustReloadThreads }: FeedChange): void {
    if (!this.#hasFeed || this.#isLeaving) return
    const isNext = this.#sentSeq === from && !this.#host.connection.isBusy
    if (!isNext) return this.participant.document.onActivity()
    if (mustReloadThreads || (states === 'large' && this.wantsLiveStates)) return void this.resendSkipped()
    this.#sentSeq = this.participant.document.feed.position?.seq ?? from
    if (threads) this.#push(threads)
    if (states instanceof RefFrames && this.wantsLiveStates) this.#push(states)
  }

  onThreadsViewed(frames: RefFrames): void {
    if (!this.wantsThreads || this.#isLeaving) return
    if (!this.#hasMissedChanges && !this.#host.connection.isBusy) return this.#push(frames)
    this.#hasMissedViews = true
    this.participant.document.onActivity()
  }

  onFeedLost(): void {
    this.participant.close('unavailable', 'The document cannot be read.')
  }

  resendSkipped(): boolean {
    if (!this.#isCatchingUp && this.#mayCatchUp) {
      this.#isCatchingUp = true
      const { scheduler, owner } = this.#host.connection
      const onError = () => this.participant.close('unavailable', 'The document cannot be read.')
      scheduler.scheduleSteps(owner, this.#catchUp(), onError)
    }
    return this.#hasMissed
  }

  /** Whether the client has missed changes and is not busy, so that they can be sent now. */
  get #mayCatchUp(): boolean {
    if (!this.#isOpen || this.#isLeaving || this.#host.connection.isBusy) return false
    return this.#hasMissed
  }

  get #hasMissed(): boolean {
    return this.#missedUsers.size > 0 || this.#hasMissedChanges
  }

  get #hasMissedChanges(): boolean {
    const { position } = this.participant.document.feed
    if (!this.#hasFeed || position === undefined) return false
    return this.#hasMissedViews || this.#sentSeq < position.seq
  }

  *#catchUp(): Generator<undefined> {
    const { presence } = this.participant.document
    try {
      while (this.#mayCatchUp) {
        if (this.#missedUsers.size > 0)
          this.#push(new RefFrames('presence', presence.takeFields(this.#missedUsers)))
        else this.#sendMissedChanges()
        yield
      }
    } finally {
      this.#isCatchingUp = false
    }
  }

  /** Sends what changed since the client last got changes. Threads are not sent again: the client loads them with a call. */
  #sendMissedChanges(): void {
    const { feed } = this.participant.document
    const position = feed.position as Position
    const since = this.#sentSeq
    this.#sentSeq = position.seq
    this.#hasMissedViews = false
    const fields = `"ref":${this.wireRef},"position":${JSON.stringify(position)}`
    if (this.wantsThreads) this.#push(new RefFrames('threads', reloadFields))
    if (this.wantsLiveStates)
      this.#sendLiveStates(`{"type":"liveState",${fields},"states":`, feed.bytesSince(since))
  }

  /** Call it only while the client is not busy, so that at most one large frame waits for it. */
  #push(frames: RefFrames): void {
    this.#host.connection.send(frames.of(this.wireRef))
  }

  onRoleChanged(accessRole: AccessRole): void {
    if (!this.#isOpen || this.#isLeaving) return
    this.#host.send({ type: 'access', ref: this.wireRef, accessRole })
    this.#listener.onRoleChanged(this)
  }

  onTokenExpiring(): void {
    this.#host.onTokenExpiring()
  }

  onClosed(reason: CloseReason, message: string): void {
    this.#liveStates.end(reason, message)
    this.#unsubscribe()
    this.#listener.onDocumentClosed(this, reason, message)
  }

  /**
   * Sends nothing more to the client. Calls `onReady` once the messages that it sent before are handled. If the document
   * closes first, `onReady` is never called.
   */
  prepareToLeave(onReady: () => void): void {
    this.#isLeaving = true
    this.participant.document.presence.unsubscribe(this)
    if (this.participant.hasWaitingMessages || this.#waiting.length > 0) this.run(onReady)
    else onReady()
  }

  leave(): void {
    this.#unsubscribe()
    this.participant.leave()
  }

  #unsubscribe(): void {
    this.#isOpen = false
    this.#host.connection.stateBudget.reserve(this, 0)
    this.#waiting.clear()
    this.#liveStates.drop()
    this.participant.document.presence.unsubscribe(this)
    this.participant.document.feed.unsubscribe(this)
  }
}
