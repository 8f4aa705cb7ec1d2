import type { CloseReason } from '@plenum/protocol/realtime'
import type { Fault } from '../../crdt/updates/fault.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import type { Clock } from '../../platform/clock.ts'
import { WorkQueue, type WorkQueueOwner } from '../../platform/turns/work-queue.ts'
import type { Participant } from '../documents/participant.ts'
import { AwarenessDelivery, type AwarenessReceiver } from '../rooms/awareness/awareness-delivery.ts'
import { maxAwarenessBytesPerSecond } from '../rooms/awareness/awareness-item.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import type { Member } from '../rooms/member.ts'
import { isOutOfOrder, isRecoverable, readOnly } from '../rooms/refusals.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { faultOfStateVector } from '../rooms/state-vector.ts'
import type { StatelessRefusal } from '../rooms/stateless-relay.ts'
import type { Connection } from '../sockets/connection.ts'
import type { EditorCodec, OpenOptions, SessionListener } from './dialect-side.ts'
import { type AskedClient, MissingUpdates } from './missing-updates.ts'
import { OutOfOrderUpdates } from './out-of-order-updates.ts'
import { UpdateBackpressure, type SubmittedUpdate } from './update-backpressure.ts'

type State =
  /** The document is not open yet, or the room is being loaded. */
  { name: 'loading' } | OpenState | { name: 'left' }

interface OpenState {
  name: 'open'
  room: EditorRoom
  outOfOrder: OutOfOrderUpdates
}

/** A client's request for the updates that it lacks. */
interface SyncRequest {
  stateVector: Uint8Array
  /** Whether the server's answer is followed by its own sync step 1. */
  sendsStep1Back: boolean
}

/** All awareness states are sent to a client at most once in this time, unless it is behind. */
const minSendAllIntervalMs = 1_000
const emptyUpdate = Uint8Array.of(0, 0)
/** From this size on, some 4,000 clients, comparing a state vector with the document takes more than 0.5 ms. */
const largeVectorBytes = 32 * 1024

/** One client in one editor, in any dialect. */
export class EditorSession implements Member, WorkQueueOwner, AskedClient, AwarenessReceiver {
  readonly codec: EditorCodec
  readonly sessionId: string
  readonly openedAt = performance.now()
  readonly pace = new BytePace(maxAwarenessBytesPerSecond)
  readonly connection: Connection
  readonly #participant: Participant
  readonly #listener: SessionListener
  #state: State = { name: 'loading' }
  /** Messages that the client sent before the editor was loaded. */
  readonly #waiting: WorkQueue
  readonly #missing: MissingUpdates
  /** The latest request of the client that is not answered yet. */
  #unanswered: SyncRequest | undefined
  readonly #backpressure: UpdateBackpressure
  readonly #delivery: AwarenessDelivery
  /** Whether the last settled update was refused. */
  #wasRefused = false
  /** The client has closed the editor. Nothing more is sent to it, but the messages that it sent before are handled. */
  #isLeaving = false

  constructor(options: {
    sessionId: string
    connection: Connection
    participant: Participant
    codec: EditorCodec
    listener: SessionListener
  }) {
    const { connection, participant } = options
    this.sessionId = options.sessionId
    this.codec = options.codec
    this.connection = connection
    this.#backpressure = new UpdateBackpressure(connection)
    this.#participant = participant
    this.#listener = options.listener
    this.#waiting = new WorkQueue(connection, this)
    this.#missing = new MissingUpdates(this)
    this.#delivery = new AwarenessDelivery(this)
  }

  get clock(): Clock {
    return this.#participant.document.clock
  }

  /** Loading takes time, and access may change meanwhile. */
  mayRun(): boolean {
    return this.#participant.isCurrent()
  }

  onBlocked(): void {
    this.#participant.run(() => this.#waiting.start())
  }

  onError(): void {
    this.close('badMessage', 'The message is malformed.')
  }

  onDeliveryFailed(): void {
    this.close('unavailable', 'The document cannot be read.')
  }

  sendStateVector(stateVector: Uint8Array): void {
    this.send(this.codec.syncStep1(stateVector))
  }

  sendStates(update: Uint8Array): void {
    this.send(this.codec.awareness(update))
  }

  get userId(): string {
    return this.#participant.identity.userId
  }

  get email(): string | undefined {
    return this.#participant.identity.email
  }

  get hasWriteRole(): boolean {
    return this.#participant.hasWriteRole
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

  get canWriteNow(): boolean {
    return !this.#hasLeft && this.#participant.hasWriteRole && this.#participant.isCurrent()
  }

  /** Loads the editor. Then sends the awareness states to the client, and requests the updates that the server lacks. */
  open(editorId: string, options: OpenOptions = {}): void {
    this.connection.hold()
    this.#participant.document
      .openRoom(editorId)
      .then(
        (room) => this.#enter(room, options),
        () => this.close('unavailable', 'The document cannot be read.'),
      )
      .catch(() => this.close('badMessage', 'The message is malformed.'))
      .finally(() => this.connection.release())
  }

  #enter(room: EditorRoom, { requestsUpdates = true, onLoaded }: OpenOptions): void {
    if (this.#hasLeft) return
    if (room.isDropped) return this.close('restarting', 'The document is being reloaded.')
    this.#state = { name: 'open', room, outOfOrder: new OutOfOrderUpdates() }
    onLoaded?.(room)
    room.members.add(this)
    if (requestsUpdates) this.requestMissingUpdates()
    this.#delivery.sendAll(room.relay.awareness)
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

  /** Handles the client's request for everything that a client with this state vector lacks. */
  syncStep1(stateVector: Uint8Array, sendsStep1Back: boolean): void {
    this.#run(({ room }) => {
      const fault = faultOfStateVector(stateVector)
      if (fault !== undefined) return this.close('badMessage', fault)
      if (sendsStep1Back) this.#missing.onRequestDue()
      const isAnswering = this.#unanswered !== undefined
      // Requests that arrive before the answer are coalesced: only the latest is answered.
      this.#unanswered = { stateVector, sendsStep1Back }
      if (isAnswering) return
      this.connection
        .answerInTurn(() => this.#answer(room))
        .catch(() => this.close('unavailable', 'The document cannot be read.'))
    })
  }

  async #answer(room: EditorRoom): Promise<void> {
    const { stateVector, sendsStep1Back } = this.#unanswered as SyncRequest
    this.#unanswered = undefined
    if (this.isSilent) return
    const { apiKey, userId } = this.#participant.identity
    const hasSpaceFor = (bytes: number) => this.connection.hasSpaceFor(apiKey, bytes)
    const missing = () => room.content.missingFor(stateVector, hasSpaceFor)
    const { recent, body, isHeld } = await this.#inTurnIfLarge(stateVector, missing)
    if (this.isSilent) return
    if (recent) this.connection.answer(this.codec.update(recent))
    this.connection.answer(this.codec.syncStep2(body), { apiKey, userId, body, isHeld })
    if (sendsStep1Back) this.#missing.requestNow(room)
  }

  /** Runs `work` in a turn of the client if the state vector is large, because many clients may send one at once. */
  async #inTurnIfLarge<T>({ length }: Uint8Array, work: () => Promise<T>): Promise<T> {
    if (length < largeVectorBytes) return work()
    const { scheduler, owner } = this.connection
    let result: Promise<T> | undefined
    await scheduler.scheduleOnce(owner, () => {
      result = work()
    })
    return result as Promise<T>
  }

  /** Handles an update of the client. With `isStep2` it is everything that the server lacked, which may be nothing. */
  update(number: number, update: Uint8Array, isStep2: boolean): void {
    this.#run((open) => {
      if (isStep2) this.#missing.onAnswered()
      const { hasWriteRole, document } = this.#participant
      if (hasWriteRole) document.presence.markActive(this.#participant)
      // A client that may not write answers the server's sync step 1 as well: with duplicates, or with nothing.
      if (hasWriteRole || isStep2) this.#submit(open, number, update, isStep2)
      else this.#refused(number, readOnly)
    })
  }

  /** Calls `then` once the updates that the client sent before are durable or refused. */
  afterUpdates(then: () => void): void {
    this.#run(({ room }) => this.afterQueued(room, then))
  }

  /** An empty update is acknowledged behind everything that is queued. */
  afterQueued(room: EditorRoom, then: () => void): void {
    if (!this.#hasLeft) room.submit(this, emptyUpdate, { saved: then, refused: then })
  }

  #submit({ room, outOfOrder }: OpenState, number: number, update: Uint8Array, isStep2: boolean): void {
    const arrival = outOfOrder.nextArrival()
    const takeCovered = () => (isStep2 ? outOfOrder.takeBefore(arrival) : [])
    const submitted: SubmittedUpdate = { state: 'waiting' }
    room.submit(this, update, {
      saved: (_seq, hasChanges) => {
        this.#backpressure.settle(submitted)
        for (const earlier of takeCovered()) this.#saved(earlier, update, true)
        this.#saved(number, update, hasChanges)
      },
      refused: (fault) => {
        this.#backpressure.settle(submitted)
        if (isOutOfOrder(fault) && outOfOrder.add(arrival, number)) return
        if (isRecoverable(fault)) for (const one of [...takeCovered(), number]) this.#refused(one, fault)
        else {
          this.#participant.document.countRefusedUpdate(fault)
          this.close('invalidUpdate', fault.message)
        }
      },
    })
    this.#backpressure.holdIfFull(submitted, room)
  }

  #saved(number: number, update: Uint8Array, hasChanges: boolean): void {
    this.#wasRefused = false
    const frame = this.codec.saved?.(number, update, hasChanges)
    if (frame) this.send(frame)
  }

  #refused(number: number, fault: Fault): void {
    this.#participant.document.countRefusedUpdate(fault)
    this.#listener.onUpdateRefused?.(fault)
    const frame = this.codec.refused?.(number, fault, this.#wasRefused)
    this.#wasRefused = true
    if (frame) this.send(frame)
  }

  awareness(update: Uint8Array): void {
    this.#run(({ room }) => {
      const result = room.relay.awareness.receive(this, update)
      if (result === 'malformed') return this.close('badMessage', 'Malformed awareness update.')
      if (result === 'tooLarge') return this.close('badMessage', 'An awareness state has at most 16 KiB.')
      room.relay.broadcastAwareness()
      const { document } = this.#participant
      if (result === 'changed') document.presence.markActive(this.#participant)
      else document.presence.touch(this.#participant)
    })
  }

  /** Relays a stateless message, which is not stored, to the other clients of the editor. */
  relay(payload: Uint8Array, onRefused: (refusal: StatelessRefusal) => void): void {
    this.#run(({ room }) => room.relay.stateless.send(this, payload, onRefused))
  }

  queryAwareness(): void {
    this.#run(({ room }) => {
      // Whether all states were sent to the client less than a second ago, and all changes since.
      const isSoon = this.#delivery.msSinceSendAll < minSendAllIntervalMs
      if (isSoon || !this.#delivery.sendAll(room.relay.awareness))
        this.send(this.codec.awareness(emptyAwareness))
    })
  }

  onRoleChanged(): void {
    this.#ifOpen(({ room }) => room.relay.onRoleChanged(this))
    if (this.hasWriteRole) this.onWriteAllowed()
  }

  /** The client's updates can be stored from now on. Requests those that were refused before. */
  onWriteAllowed(): void {
    if (this.#wasRefused) this.requestMissingUpdates()
  }

  requestMissingUpdates(): void {
    this.#participant.document.onActivity()
    this.#ifOpen(({ room }) => this.#missing.request(room))
  }

  /** Whether nothing more may be sent to the client: another session may use its channel of the connection. */
  get isSilent(): boolean {
    return this.#hasLeft || this.#isLeaving
  }

  send(frame: Buffer): void {
    if (!this.isSilent) this.connection.send(frame)
  }

  sendLater(frame: Buffer): void {
    if (!this.isSilent) this.connection.sendLater(frame)
  }

  sendAwareness(frame: Buffer, clientIds: readonly number[]): boolean {
    const isSent = this.#delivery.canSendChange(clientIds)
    if (isSent) this.send(frame)
    else this.#participant.document.onActivity()
    return isSent
  }

  tryReserve(bytes: number): boolean {
    return this.connection.stateBudget.reserve(this, bytes)
  }

  /** Also sends a request for missing updates that had to wait. */
  resendSkipped(): boolean {
    this.#ifOpen(({ room }) => {
      this.#missing.retry(room)
      this.#delivery.catchUp(room.relay.awareness)
    })
    return this.#missing.isDelayed || this.#delivery.hasUnsent
  }

  /** Leaves the editor and reports why. */
  close(reason: CloseReason, message: string): void {
    if (this.#hasLeft) return
    this.leave()
    this.#listener.onEditorClosed(reason, message)
  }

  /** Sends nothing more to the client. Calls `onReady` once the messages that it sent before are handled. */
  prepareToLeave(onReady: () => void): void {
    this.#isLeaving = true
    if (this.#participant.hasWaitingMessages || this.#waiting.length > 0) this.#run(onReady)
    else onReady()
  }

  leave(): void {
    const before = this.#state
    if (before.name === 'left') return
    this.#state = { name: 'left' }
    this.#waiting.clear()
    this.#backpressure.releaseAll()
    if (before.name === 'open') before.room.leave(this)
  }
}
