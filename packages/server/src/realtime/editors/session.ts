import type { CloseReason } from '@plenum/protocol/realtime'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { Clock } from '../../platform/clock.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import { WorkQueue } from '../../platform/turns/work-queue.ts'
import type { Participant } from '../documents/participant.ts'
import { AwarenessDelivery } from '../rooms/awareness/awareness-delivery.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import { type BroadcastCodec, isRecoverable, isOutOfOrder, type Member, readOnly } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { faultOfStateVector } from '../rooms/state-vector.ts'
import type { StatelessRefusal } from '../rooms/stateless-relay.ts'
import type { Connection } from '../sockets/connection.ts'
import type { Message } from '../sockets/frames.ts'
import { Backpressure, type Wait } from './backpressure.ts'

/** Encodes what a session sends to its client, in the dialect of the client. */
export interface EditorCodec extends BroadcastCodec {
  syncStep1(stateVector: Uint8Array): Buffer
  syncStep2(update: Uint8Array): Message
  /** The update with the client's number is durable. Not `hasChanges`: the server had it before. */
  saved?(number: number, update: Uint8Array, hasChanges: boolean): Buffer | undefined
  /** The update is not stored, and the connection stays open. `isRepeated`: the update before it was refused as well. */
  refused?(number: number, fault: Fault, isRepeated: boolean): Buffer | undefined
}

interface Opening {
  /** Default true. False in dialects whose clients send the first request, and are sent one in return. */
  requestsUpdates?: boolean
  onLoaded?: (room: EditorRoom) => void
}

type State =
  /** The document is not open yet, or the room is being loaded. */
  { name: 'loading' } | OpenState | { name: 'left' }

interface OpenState {
  name: 'open'
  room: EditorRoom
  /**
   * Numbers of updates that depend on an update only their client has. They are settled with the client's answer to
   * `syncStep1`, which contains them too.
   */
  outOfOrder: number[]
}

/** A client's request for what it lacks. */
interface SyncRequest {
  stateVector: Uint8Array
  asksBack: boolean
}

/** A client is asked for missing updates at most once in this time. */
const requestIntervalMs = 1_000
/** Updates of one client that may wait for its answer. */
const maxOutOfOrder = 10_000

const emptyUpdate = Uint8Array.of(0, 0)

/** Some 4,000 clients, or 0.5 ms. */
const largeVectorBytes = 32 * 1024

/** Awareness of one client: cursors that move thirty times a second take some 10 KB. */
const maxAwarenessBytesPerSecond = 32 * 1024

/** One client in one editor, in any dialect. */
export class EditorSession implements Member {
  readonly codec: EditorCodec
  readonly sessionId: string
  readonly pace = new BytePace(maxAwarenessBytesPerSecond)
  readonly #connection: Connection
  readonly #participant: Participant
  readonly #clock: Clock
  readonly #onClosed: (reason: CloseReason, message: string) => void
  #state: State = { name: 'loading' }
  /** Messages that the client sent before the editor was loaded. */
  readonly #waiting: WorkQueue
  #requestedAt = -Infinity
  /** Missing updates are requested once `requestIntervalMs` is over. */
  #mustRequest = false
  /** The latest request of the client that is not answered yet. */
  #unanswered: SyncRequest | undefined
  readonly #backpressure: Backpressure
  readonly #delivery: AwarenessDelivery
  #wasRefused = false
  /** The client has closed the editor. It is sent nothing more, and what it sent before is still handled. */
  #isFinishing = false

  constructor(options: {
    sessionId: string
    connection: Connection
    participant: Participant
    codec: EditorCodec
    ended: (reason: CloseReason, message: string) => void
  }) {
    const { connection, participant } = options
    this.sessionId = options.sessionId
    this.codec = options.codec
    this.#connection = connection
    this.#backpressure = new Backpressure(connection)
    this.#participant = participant
    this.#clock = participant.document.clock
    this.#onClosed = options.ended
    this.#waiting = new WorkQueue(connection, {
      // Loading takes time, and access may change meanwhile.
      mayRun: () => participant.isCurrent(),
      onBlocked: () => participant.run(() => this.#waiting.start()),
      onError: () => this.end('badMessage', 'The message is malformed.'),
    })
    this.#delivery = new AwarenessDelivery({
      connection,
      isSilent: () => this.#isSilent,
      sendStates: (update) => this.send(this.codec.awareness(update)),
      onError: () => this.end('unavailable', 'The document cannot be read.'),
    })
  }

  get userId(): string {
    return this.#participant.identity.userId
  }

  get email(): string | undefined {
    return this.#participant.identity.email
  }

  get isWriter(): boolean {
    return this.#participant.canWrite
  }

  get mayStore(): boolean | undefined {
    return this.#participant.mayStore
  }

  whenDecided(): Promise<void> {
    return this.#participant.whenDecided()
  }

  get #hasLeft(): boolean {
    return this.#state.name === 'left'
  }

  get canWrite(): boolean {
    return !this.#hasLeft && this.#participant.canWrite && this.#participant.isCurrent()
  }

  /** Loads the editor. Then sends the client the awareness states, and asks for the updates that the server lacks. */
  open(editorId: string, opening: Opening = {}): void {
    this.#connection.hold()
    this.#participant.document
      .openRoom(editorId)
      .then(
        (room) => this.#enter(room, opening),
        () => this.end('unavailable', 'The document cannot be read.'),
      )
      .catch(() => this.end('badMessage', 'The message is malformed.'))
      .finally(() => this.#connection.release())
  }

  #enter(room: EditorRoom, { requestsUpdates = true, onLoaded }: Opening): void {
    if (this.#hasLeft) return
    if (room.isDropped) return this.end('restarting', 'The document is being reloaded.')
    this.#state = { name: 'open', room, outOfOrder: [] }
    onLoaded?.(room)
    room.members.add(this)
    if (requestsUpdates) this.requestMissingUpdates()
    this.#delivery.sendAll(room.awareness)
    this.#waiting.start()
  }

  /** Handles a message of the client once its access is current and the editor is loaded. */
  #run(work: (open: OpenState) => void): void {
    this.#participant.run(() => {
      const state = this.#state
      if (state.name === 'left') return
      if (state.name === 'open' && this.#waiting.length === 0) work(state)
      else this.#waiting.push(() => this.#ifOpen(work))
    })
  }

  #ifOpen(work: (open: OpenState) => void): void {
    if (this.#state.name === 'open') work(this.#state)
  }

  syncStep1(stateVector: Uint8Array, asksBack: boolean): void {
    this.#run(({ room }) => {
      const fault = faultOfStateVector(stateVector)
      if (fault !== undefined) return this.end('badMessage', fault)
      if (asksBack) this.#requestedAt = this.#clock.elapsed()
      const isAnswering = this.#unanswered !== undefined
      // Repeated requests are coalesced; the latest is answered.
      this.#unanswered = { stateVector, asksBack }
      if (isAnswering) return
      this.#connection
        .answerInTurn(() => this.#answer(room))
        .catch(() => this.end('unavailable', 'The document cannot be read.'))
    })
  }

  async #answer(room: EditorRoom): Promise<void> {
    const { stateVector, asksBack } = this.#unanswered as SyncRequest
    this.#unanswered = undefined
    if (this.#isSilent) return
    const { apiKey, userId } = this.#participant.identity
    const hasRoomFor = (bytes: number) => this.#connection.hasSpaceFor(apiKey, bytes)
    const missing = () => room.content.missingFor(stateVector, hasRoomFor)
    const { recent, body, isHeld } = await this.#inTurnIfLarge(stateVector, missing)
    if (this.#isSilent) return
    if (recent) this.#connection.answer(this.codec.update(recent))
    this.#connection.answer(this.codec.syncStep2(body), { apiKey, userId, body, isHeld })
    if (asksBack) this.#requestFrom(room)
  }

  /** Comparing a large state vector with the document takes milliseconds, and many clients may send one. */
  async #inTurnIfLarge<T>({ length }: Uint8Array, work: () => Promise<T>): Promise<T> {
    if (length < largeVectorBytes) return work()
    const { turns, owner } = this.#connection
    let result: Promise<T> | undefined
    await turns.scheduleOnce(owner, () => {
      result = work()
    })
    return result as Promise<T>
  }

  /** An update, or with `isAnswer` everything that the server lacked, which may be nothing. */
  update(number: number, update: Uint8Array, isAnswer: boolean): void {
    this.#run((open) => {
      if (isAnswer) this.#mustRequest = false
      if (this.#participant.canWrite) this.#submit(open, number, update, isAnswer)
      else if (!isAnswer || !this.#confirm(open.room, number, update)) this.#refused(number, readOnly)
    })
  }

  /** Calls back once the updates that the client sent before are durable or refused. */
  afterUpdates(then: () => void): void {
    this.#run(({ room }) => void room.confirmDuplicate(this, emptyUpdate, { saved: then, refused: then }))
  }

  /** False if the update contains changes that the server does not have. */
  #confirm(room: EditorRoom, number: number, update: Uint8Array): boolean {
    const wait: Wait = { state: 'waiting' }
    const isKnown = room.confirmDuplicate(this, update, {
      saved: () => {
        this.#backpressure.settle(wait)
        this.#saved(number, update, false)
      },
      refused: (fault) => {
        this.#backpressure.settle(wait)
        this.#refused(number, fault)
      },
    })
    if (isKnown) this.#backpressure.holdIfFull(wait, room)
    return isKnown
  }

  #submit({ room, outOfOrder }: OpenState, number: number, update: Uint8Array, isAnswer: boolean): void {
    this.#participant.document.markActive(this.#participant)
    // An answer contains everything that its client sent before.
    const covered = isAnswer ? outOfOrder.splice(0) : []
    const wait: Wait = { state: 'waiting' }
    room.submit(this, update, {
      saved: (_seq, hasChanges) => {
        this.#backpressure.settle(wait)
        for (const earlier of covered) this.#saved(earlier, update, true)
        this.#saved(number, update, hasChanges)
      },
      refused: (fault) => {
        this.#backpressure.settle(wait)
        if (isOutOfOrder(fault) && outOfOrder.length + covered.length < maxOutOfOrder)
          outOfOrder.push(...covered, number)
        else if (isRecoverable(fault)) for (const one of [...covered, number]) this.#refused(one, fault)
        else {
          this.#participant.document.countRefusedUpdate(fault)
          this.end('invalidUpdate', fault.message)
        }
      },
    })
    this.#backpressure.holdIfFull(wait, room)
  }

  #saved(number: number, update: Uint8Array, hasChanges: boolean): void {
    this.#wasRefused = false
    const frame = this.codec.saved?.(number, update, hasChanges)
    if (frame) this.send(frame)
  }

  #refused(number: number, fault: Fault): void {
    this.#participant.document.countRefusedUpdate(fault)
    const frame = this.codec.refused?.(number, fault, this.#wasRefused)
    this.#wasRefused = true
    if (frame) this.send(frame)
  }

  awareness(update: Uint8Array): void {
    this.#run(({ room }) => {
      const result = room.awareness.receive(this, update)
      if (result === 'malformed') return this.end('badMessage', 'Malformed awareness update.')
      if (result === 'tooLarge') return this.end('badMessage', 'An awareness state has at most 16 KiB.')
      room.awarenessChanged()
      const { document } = this.#participant
      if (result === 'changed') document.markActive(this.#participant)
      else document.touch(this.#participant)
    })
  }

  /** Sends a message that is not stored to the other clients of the editor. */
  relay(payload: Uint8Array, onRefused: (refusal: StatelessRefusal) => void): void {
    this.#run(({ room }) => room.stateless.send(this, payload, onRefused))
  }

  queryAwareness(): void {
    this.#run(({ room }) => {
      // A client that asks again so soon has been sent all states, and the changes since.
      const isSoon = this.#delivery.msSinceAll < requestIntervalMs
      if (isSoon || !this.#delivery.sendAll(room.awareness)) this.send(this.codec.awareness(emptyAwareness))
    })
  }

  /** The client may write from now on: requests what was refused before. */
  onWriteAllowed(): void {
    if (this.#wasRefused) this.requestMissingUpdates()
  }

  requestMissingUpdates(): void {
    this.#mustRequest = this.#clock.elapsed() - this.#requestedAt < requestIntervalMs
    if (!this.#mustRequest) this.#ifOpen(({ room }) => this.#requestFrom(room))
  }

  #requestFrom(room: EditorRoom): void {
    this.#requestedAt = this.#clock.elapsed()
    this.#mustRequest = false
    this.send(this.codec.syncStep1(room.stateVector()))
  }

  /** Whether the client is sent nothing more: another session may use its channel of the connection. */
  get #isSilent(): boolean {
    return this.#hasLeft || this.#isFinishing
  }

  send(frame: Buffer): void {
    if (!this.#isSilent) this.#connection.send(frame)
  }

  sendAwareness(frame: Buffer, clients: readonly number[]): boolean {
    const isSent = this.#delivery.takesChange(clients)
    if (isSent) this.send(frame)
    return isSent
  }

  keep(bytes: number): boolean {
    return this.#connection.stateBudget.reserve(this, bytes)
  }

  /** Called at every sweep. */
  resendSkipped(): void {
    if (this.#mustRequest) this.requestMissingUpdates()
    this.#ifOpen(({ room }) => this.#delivery.catchUp(room.awareness))
  }

  end(reason: CloseReason, message: string): void {
    if (this.#hasLeft) return
    this.leave()
    this.#onClosed(reason, message)
  }

  /** Sends the client nothing more, and calls back once what it sent before is handled. */
  finish(then: () => void): void {
    this.#isFinishing = true
    if (this.#participant.hasWaitingMessages || this.#waiting.length > 0) this.#run(then)
    else then()
  }

  leave(): void {
    const before = this.#state
    if (before.name === 'left') return
    this.#state = { name: 'left' }
    this.#waiting.clear()
    this.#backpressure.releaseAll()
    if (before.name === 'loading') return
    before.room.members.delete(this)
    before.room.awareness.leave(this.sessionId)
    before.room.awarenessChanged()
  }
}
