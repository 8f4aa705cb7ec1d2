import type { ErrorStatus } from '@plenum/protocol'
import {
  type AccessRole,
  type CloseReason,
  limits,
  type Position,
  type ServerMessage,
} from '@plenum/protocol/realtime'
import type { Backlog } from '../../sockets/backlog.ts'
import type { Connection } from '../../sockets/connection.ts'
import type { Declaration, Refusal } from '../../editors/declarations.ts'
import type { EditorRoom } from '../../rooms/room.ts'
import { textMessage } from '../../sockets/frames.ts'
import { documentFull } from '../../../store/documents/live-states.ts'
import type { Hub } from '../../editors/services.ts'
import type { Identity } from '../../authorization/identify.ts'
import type { ReadMessage } from '../../messages/message.ts'
import type { LiveStateSubscriber } from '../../live-states/live-states.ts'
import type { Listener, Participant } from '../../documents/participant.ts'
import { idPattern, isId } from '../../documents/place.ts'
import type { PresenceSubscriber } from '../../presence/presence-broadcast.ts'
import { RefFrames } from '../../sockets/ref-frames.ts'
import { StepTaker, whenItsTurn } from '../../../platform/turns/step-taker.ts'
import { WorkQueue } from '../../../platform/turns/work-queue.ts'

type Message<Type extends ReadMessage['type']> = Extract<ReadMessage, { type: Type }>

/** Users whose changes a client is told later. It is closed when there are more: then opening the document again is cheaper. */
const maxMissedUsers = 50_000

/** What a document needs of its client. */
export interface DocumentHost {
  readonly connection: Connection
  readonly hub: Hub
  readonly backlog: Backlog
  send(message: ServerMessage): void
  expiring(): void
  mayWrite(document: JsonDocument): void
  ended(document: JsonDocument, reason: CloseReason, message: string): void
}

/** A document of a client at `/realtime`, under a ref that the client chose. */
export class JsonDocument implements Listener, PresenceSubscriber, LiveStateSubscriber {
  readonly tellsIdleness = true
  readonly participant: Participant
  readonly #host: DocumentHost
  readonly #opening: Message<'open'>
  #isOpen = false
  /** The client has closed it: nothing more is told under its ref, which may be that of another document now. */
  #isFinishing = false
  /** What came before it was open. */
  readonly #waiting: WorkQueue
  /** The change of the document up to which live states were sent. */
  #sentSeq = 0
  /** Users of whose changes the client was not told, because it was busy. */
  readonly #missed = new Set<string>()
  #isCatchingUp = false

  constructor(host: DocumentHost, identity: Identity, opening: Message<'open'>) {
    this.#host = host
    this.#opening = opening
    this.participant = host.hub.documents.join(host.connection, identity, opening, this)
    const { participant } = this
    this.#waiting = new WorkQueue(host.connection, {
      mayRun: () => participant.isCurrent(),
      onBlocked: () => participant.run(() => this.#waiting.start()),
      onError: () => participant.end('badMessage', 'The message is malformed.'),
    })
    participant.start()
  }

  get connection(): Connection {
    return this.#host.connection
  }

  get ref(): number {
    return this.#opening.ref
  }

  declare(room: EditorRoom, declaration: Declaration): Promise<Refusal | undefined> {
    return this.#host.hub.declarations.declare(room, declaration, this.participant)
  }

  get place(): { organizationId: string; documentId: string } {
    return this.#opening
  }

  opened(): void {
    this.#open().catch(() => this.participant.end('unavailable', 'The document cannot be read.'))
  }

  async #open(): Promise<void> {
    const { presence, liveStates } = this.participant.document
    if (this.#wants('presence')) await presence.load()
    await liveStates.load()
    const { connection } = this.#host
    if (connection.isOpen) await connection.inTurn(() => this.#answerWhenLoaded())
    // Who is gone is not answered, but what it sent counts.
    if (!connection.isOpen && !this.#isOpen) await this.#answerWhenLoaded()
  }

  async #answerWhenLoaded(): Promise<void> {
    const { liveStates } = this.participant.document
    // They may have been forgotten since.
    while (!this.participant.hasEnded && !liveStates.position) await liveStates.load()
    if (this.participant.hasEnded) return
    // Many may have waited for the same, and their answers may be large.
    const { turns, owner } = this.#host.connection
    await whenItsTurn(turns, owner, () => {
      // They may have been forgotten once more, and the client may have left.
      if (liveStates.position && !this.participant.hasEnded) this.#answer(liveStates.position)
    })
    if (!this.participant.hasEnded && !this.#isOpen) await this.#answerWhenLoaded()
  }

  /** What is told now and what follows have no gap between them: both come from what the document has told so far. */
  #answer(position: Position): void {
    this.#isOpen = true
    if (!this.#isFinishing) {
      this.#sentSeq = position.seq
      const presence = this.#wants('presence') ? this.participant.document.presence.all() : undefined
      this.#sendOpened(position, presence?.json)
      if (presence) {
        this.participant.document.presence.subscribe(this)
        this.#miss(presence.rest)
      }
    }
    // Even if the client does not want them: how much there is bounds what it may set.
    this.participant.document.liveStates.subscribe(this)
    this.#waiting.start()
  }

  #sendOpened(position: Position, presence: string | undefined): void {
    const { ref, since } = this.#opening
    const { document, role } = this.participant
    const isResumed = since?.epoch === position.epoch && since.seq <= position.seq
    const fields = [
      `"type":"opened","ref":${ref},"accessRole":"${role}"`,
      `"position":${JSON.stringify(position)},"reset":${!isResumed}`,
    ]
    if (presence) fields.push(`"presence":${presence}`)
    if (this.#wants('liveState')) {
      const states = document.liveStates.bytesSince(isResumed ? since.seq : 0)
      this.#answerWith(`{${fields.join()},"liveStates":`, states)
    } else this.#answerWith(`{${fields.join()}`, Buffer.alloc(0))
  }

  /** A message that ends with these live states, which may be many. */
  #answerWith(before: string, states: Buffer): void {
    const { apiKey, userId } = this.participant.identity
    const message = textMessage(Buffer.from(before), states, Buffer.from('}'))
    this.#host.connection.answer(message, { apiKey, userId, body: states, isHeld: () => false })
  }

  #wants(topic: Message<'open'>['topics'][number]): boolean {
    return this.#opening.topics.includes(topic)
  }

  /** Does it once the document is open and the judgement current; never, if that closes it. */
  run(work: () => void): void {
    this.participant.run(() => {
      if (this.#isOpen && this.#waiting.length === 0) work()
      else this.#waiting.push(work)
    })
  }

  setPresence({ ref, status, data }: Message<'setPresence'>): void {
    const bytes = data ? Buffer.byteLength(data) : 0
    const refuse = (status: ErrorStatus, message: string) =>
      this.#host.send({ type: 'error', ref, status, message })
    if (bytes > limits.presenceBytes) {
      return refuse('INVALID_ARGUMENT', 'The data of a presence must not be larger than 16 KiB.')
    }
    this.run(() => {
      if (data !== undefined && !this.#host.connection.states.keep(this, bytes)) {
        const message = 'A connection has at most 1 MiB of presence data and awareness states.'
        return refuse('RESOURCE_EXHAUSTED', message)
      }
      this.participant.document.presence.set(this.participant, { status, data })
    })
  }

  setLiveState(message: Message<'setLiveState'>, bytes: number): void {
    const { ref, id, liveStateDataId, data, merge = false } = message
    const { participant } = this
    const { document } = participant
    this.run(() => {
      const refuse = (status: ErrorStatus, message: string) =>
        this.#host.send({ type: 'error', id, ref, status, message })
      if (!isId(liveStateDataId)) return refuse('INVALID_ARGUMENT', `liveStateDataId ${idPattern}`)
      if (!participant.canWrite) {
        return refuse('PERMISSION_DENIED', 'The user may read this document, but not change it.')
      }
      if (!document.liveStates.hasRoomFor(liveStateDataId, bytes, merge)) {
        return refuse(documentFull.status, documentFull.message)
      }
      document.active(participant)
      const setting = { liveStateDataId, data, merge, userId: participant.identity.userId, bytes }
      this.#host.backlog.add(bytes)
      this.#host.hub.liveStates.set(document, setting, participant, {
        done: (position) => {
          this.#host.backlog.settle(bytes)
          this.#host.send({ type: 'done', id, position })
        },
        refused: (error) => {
          this.#host.backlog.settle(bytes)
          // Of a document that is closed nothing more is said.
          if (!participant.hasEnded) refuse(error.status, error.message)
        },
      })
    })
  }

  presenceChanged(frames: RefFrames, userIds: readonly string[]): boolean {
    const isSent = this.#missed.size === 0 && !this.#host.connection.isBusy
    if (isSent) this.#push(frames)
    else this.#miss(userIds)
    return isSent
  }

  #miss(userIds: readonly string[]): void {
    for (const userId of userIds) this.#missed.add(userId)
    if (this.#missed.size > maxMissedUsers) this.participant.end('slow', 'The client reads too slowly.')
  }

  liveStatesChanged(frames: RefFrames | undefined, from: number): void {
    if (!this.#wants('liveState') || this.#isFinishing) return
    if (!frames) return this.makeUp()
    if (this.#sentSeq !== from || this.#host.connection.isBusy) return
    this.#sentSeq = this.participant.document.liveStates.position?.seq ?? from
    this.#push(frames)
  }

  liveStatesLost(): void {
    this.participant.end('unavailable', 'The document cannot be read.')
  }

  makeUp(): void {
    if (this.#isCatchingUp || !this.#mayCatchUp) return
    this.#isCatchingUp = true
    const { turns, owner } = this.#host.connection
    const onError = () => this.participant.end('unavailable', 'The document cannot be read.')
    turns.add(new StepTaker(owner, this.#catchUp(), onError))
  }

  /** Whether there is something that the client was not told, and it can be told now. */
  get #mayCatchUp(): boolean {
    if (!this.#isOpen || this.#isFinishing || this.#host.connection.isBusy) return false
    return this.#missed.size > 0 || this.#lacksLiveStates
  }

  get #lacksLiveStates(): boolean {
    const { position } = this.participant.document.liveStates
    return this.#wants('liveState') && position !== undefined && this.#sentSeq < position.seq
  }

  *#catchUp(): Generator<undefined> {
    const { presence, liveStates } = this.participant.document
    try {
      while (this.#mayCatchUp) {
        if (this.#missed.size > 0) this.#push(new RefFrames('presence', presence.takeFields(this.#missed)))
        else {
          const position = liveStates.position as Position
          const states = liveStates.bytesSince(this.#sentSeq)
          this.#sentSeq = position.seq
          const fields = `"type":"liveState","ref":${this.ref},"position":${JSON.stringify(position)}`
          this.#answerWith(`{${fields},"states":`, states)
        }
        yield
      }
    } finally {
      this.#isCatchingUp = false
    }
  }

  /** To a client that is not busy, so that no more than one large frame waits. */
  #push(frames: RefFrames): void {
    this.#host.connection.send(frames.of(this.ref))
  }

  changed(accessRole: AccessRole): void {
    if (!this.#isOpen || this.#isFinishing) return
    this.#host.send({ type: 'access', ref: this.ref, accessRole })
    if (accessRole === 'editor') this.#host.mayWrite(this)
  }

  expiring(): void {
    this.#host.expiring()
  }

  ended(reason: CloseReason, message: string): void {
    this.#release()
    this.#host.ended(this, reason, message)
  }

  /** Calls back once what was sent has been looked at; not, if it ends before. */
  finish(then: () => void): void {
    this.#isFinishing = true
    this.participant.document.presence.unsubscribe(this)
    if (this.participant.hasWork || this.#waiting.length > 0) this.run(then)
    else then()
  }

  leave(): void {
    this.#release()
    this.participant.leave()
  }

  #release(): void {
    this.#isOpen = false
    this.#host.connection.states.keep(this, 0)
    this.#waiting.clear()
    this.participant.document.presence.unsubscribe(this)
    this.participant.document.liveStates.unsubscribe(this)
  }
}
