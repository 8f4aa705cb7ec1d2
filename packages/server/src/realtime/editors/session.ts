import type { CloseReason } from '@plenum/protocol/realtime'
import { AwarenessDelivery } from '../rooms/awareness/awareness-delivery.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import type { Connection } from '../sockets/connection.ts'
import { type Framing, isBearable, isEarly, type Member, readOnly } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { Message } from '../sockets/frames.ts'
import type { Participant } from '../documents/participant.ts'
import { faultOfStateVector } from '../rooms/state-vector.ts'
import type { StatelessRefusal } from '../rooms/stateless-relay.ts'
import { whenItsTurn } from '../../platform/turns/step-taker.ts'
import type { Fault } from '../../crdt/updates/validate-update.ts'
import { WorkQueue } from '../../platform/turns/work-queue.ts'

/** How a dialect speaks to one client about one editor. */
export interface Voice extends Framing {
  syncStep1(stateVector: Uint8Array): Buffer
  syncStep2(update: Uint8Array): Message
  /** The update with the client's number is durable. Not `isNews`: it was known before. */
  saved?(number: number, update: Uint8Array, isNews: boolean): Buffer | undefined
  /** It is not stored; the connection goes on. `isRepeated`: the one before was refused as well. */
  refused?(number: number, fault: Fault, isRepeated: boolean): Buffer | undefined
}

interface Opening {
  /** False where the client asks first and is asked back. */
  asks?: boolean
  describe?: (room: EditorRoom) => void
}

/** The time until an update is settled. */
interface Wait {
  /** Whether nothing is read of the client meanwhile. */
  isHeld: boolean
  isOver: boolean
}

/** Bytes that may wait in a room before its senders are made to wait. */
const mostWaiting = 256 * 1024
/** A client is asked for what is missing no more often than this. */
const askAgainMs = 1_000
/** Updates of one client that may wait for its answer. */
const mostEarly = 10_000

const emptyUpdate = Uint8Array.of(0, 0)

/** Some 4,000 clients, or 0.5 ms. */
const largeVectorBytes = 32 * 1024

/** Of what one client shows: cursors that move thirty times a second take some 10 KB. */
const maxAwarenessBytesPerSecond = 32 * 1024

/** One client in one editor, in whatever dialect. */
export class EditorSession implements Member {
  readonly framing: Voice
  readonly sessionId: string
  readonly pace = new BytePace(maxAwarenessBytesPerSecond)
  readonly #connection: Connection
  readonly #participant: Participant
  readonly #ended: (reason: CloseReason, message: string) => void
  #room: EditorRoom | undefined
  /** What the client sent before the editor was loaded. */
  readonly #waiting: WorkQueue
  #askedAt = -Infinity
  #mustAsk = false
  /** Numbers of updates that build upon what only their client has: settled with its answer, which holds them too. */
  readonly #early: number[] = []
  /** The newest question of the client that is not answered. */
  #asked: { stateVector: Uint8Array; asksBack: boolean } | undefined
  #isAnswering = false
  /** Updates that wait in a room where much waits; the connection is on hold for each. */
  #holds = 0
  readonly #delivery: AwarenessDelivery
  #wasRefused = false
  #isFinishing = false
  #hasLeft = false

  constructor(options: {
    sessionId: string
    connection: Connection
    participant: Participant
    voice: Voice
    ended: (reason: CloseReason, message: string) => void
  }) {
    this.sessionId = options.sessionId
    this.framing = options.voice
    this.#connection = options.connection
    this.#participant = options.participant
    this.#ended = options.ended
    const { connection, participant } = options
    this.#waiting = new WorkQueue(connection, {
      // Loading takes time, in which access may have changed.
      mayRun: () => participant.isCurrent(participant.document.now()),
      onBlocked: () => participant.run(() => this.#waiting.start()),
      onError: () => this.end('badMessage', 'The message is malformed.'),
    })
    this.#delivery = new AwarenessDelivery({
      connection,
      isSilent: () => this.#isSilent,
      sendStates: (update) => this.send(this.framing.awareness(update)),
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

  decided(): Promise<void> {
    return this.#participant.decided()
  }

  get canWrite(): boolean {
    const participant = this.#participant
    return !this.#hasLeft && participant.canWrite && participant.isCurrent(participant.document.now())
  }

  /** Loads the editor and greets the client: with who is there, and with what we know, so that it sends the rest. */
  open(editorId: string, opening: Opening = {}): void {
    this.#connection.hold()
    this.#participant.document
      .editor(editorId)
      .then(
        (room) => this.#enter(room, opening),
        () => this.end('unavailable', 'The document cannot be read.'),
      )
      .catch(() => this.end('badMessage', 'The message is malformed.'))
      .finally(() => this.#connection.release())
  }

  #enter(room: EditorRoom, { asks = true, describe }: Opening): void {
    if (this.#hasLeft) return
    if (room.isDropped) return this.end('restarting', 'The document is loaded anew.')
    this.#room = room
    describe?.(room)
    room.members.add(this)
    if (asks) this.askForMore()
    this.#delivery.sendAll(room.awareness)
    this.#waiting.start()
  }

  /** What the client asks for counts once it is judged and the editor is loaded. */
  #run(work: (room: EditorRoom) => void): void {
    this.#participant.run(() => {
      if (this.#hasLeft) return
      if (this.#room && this.#waiting.length === 0) work(this.#room)
      else this.#waiting.push(() => work(this.#room as EditorRoom))
    })
  }

  syncStep1(stateVector: Uint8Array, asksBack: boolean): void {
    this.#run((room) => {
      const fault = faultOfStateVector(stateVector)
      if (fault !== undefined) return this.end('badMessage', fault)
      if (asksBack) this.#askedAt = performance.now()
      this.#asked = { stateVector, asksBack }
      if (this.#isAnswering) return
      this.#isAnswering = true
      this.#connection
        .inTurn(() => this.#answer(room))
        .catch(() => this.end('unavailable', 'The document cannot be read.'))
    })
  }

  /** Whoever asks again before it has the answer is answered once, with what it lacked at last. */
  async #answer(room: EditorRoom): Promise<void> {
    const { stateVector, asksBack } = this.#asked as { stateVector: Uint8Array; asksBack: boolean }
    this.#isAnswering = false
    if (this.#isSilent) return
    const { apiKey, userId } = this.#participant.identity
    const hasRoomFor = (bytes: number) => this.#connection.hasRoomFor(apiKey, bytes)
    const missing = () => room.content.missingFor(stateVector, hasRoomFor)
    const { recent, body, isHeld } = await this.#inTurnIfLarge(stateVector, missing)
    if (this.#isSilent) return
    if (recent) this.#connection.answer(this.framing.update(recent))
    this.#connection.answer(this.framing.syncStep2(body), { apiKey, userId, body, isHeld })
    if (asksBack) this.#ask(room)
  }

  /** Comparing a large state vector with the document takes milliseconds, and many clients may send one. */
  async #inTurnIfLarge<T>({ length }: Uint8Array, work: () => Promise<T>): Promise<T> {
    if (length < largeVectorBytes) return work()
    const { turns, owner } = this.#connection
    let result: Promise<T> | undefined
    await whenItsTurn(turns, owner, () => {
      result = work()
    })
    return result as Promise<T>
  }

  /** An update, or with `isAnswer` all that the server lacked, which may be nothing. */
  update(number: number, update: Uint8Array, isAnswer: boolean): void {
    this.#run((room) => {
      if (isAnswer) this.#mustAsk = false
      if (this.#participant.canWrite) this.#submit(room, number, update, isAnswer)
      else if (!isAnswer || !this.#confirm(room, number, update)) this.#refused(number, readOnly)
    })
  }

  /** Calls back once the updates that the client sent before are durable or refused. */
  afterUpdates(then: () => void): void {
    this.#run((room) => void room.confirm(this, emptyUpdate, { saved: then, refused: then }))
  }

  /** False if it holds something new. */
  #confirm(room: EditorRoom, number: number, update: Uint8Array): boolean {
    const wait: Wait = { isHeld: false, isOver: false }
    const isKnown = room.confirm(this, update, {
      saved: () => {
        this.#endWait(wait)
        this.#saved(number, update, false)
      },
      refused: (fault) => {
        this.#endWait(wait)
        this.#refused(number, fault)
      },
    })
    if (isKnown) this.#beginWait(wait, room)
    return isKnown
  }

  #submit(room: EditorRoom, number: number, update: Uint8Array, isAnswer: boolean): void {
    this.#participant.document.active(this.#participant)
    // An answer holds everything that its client sent before.
    const covered = isAnswer ? this.#early.splice(0) : []
    const wait: Wait = { isHeld: false, isOver: false }
    room.submit(this, update, {
      saved: (_seq, isNews) => {
        this.#endWait(wait)
        for (const earlier of covered) this.#saved(earlier, update, true)
        this.#saved(number, update, isNews)
      },
      refused: (fault) => {
        this.#endWait(wait)
        if (isEarly(fault) && this.#early.length + covered.length < mostEarly)
          this.#early.push(...covered, number)
        else if (isBearable(fault)) for (const one of [...covered, number]) this.#refused(one, fault)
        else {
          this.#participant.document.updateRefused(fault)
          this.end('invalidUpdate', fault.message)
        }
      },
    })
    this.#beginWait(wait, room)
  }

  /** Reads no more of the client until `#endWait`, unless that came first or little waits in the room. */
  #beginWait(wait: Wait, room: EditorRoom): void {
    if (wait.isOver || room.queuedBytes <= mostWaiting) return
    wait.isHeld = true
    this.#holds++
    this.#connection.hold()
  }

  #endWait(wait: Wait): void {
    wait.isOver = true
    if (wait.isHeld) this.#release()
  }

  #release(): void {
    if (this.#holds === 0) return
    this.#holds--
    this.#connection.release()
  }

  #saved(number: number, update: Uint8Array, isNews: boolean): void {
    this.#wasRefused = false
    const frame = this.framing.saved?.(number, update, isNews)
    if (frame) this.send(frame)
  }

  #refused(number: number, fault: Fault): void {
    this.#participant.document.updateRefused(fault)
    const frame = this.framing.refused?.(number, fault, this.#wasRefused)
    this.#wasRefused = true
    if (frame) this.send(frame)
  }

  awareness(update: Uint8Array): void {
    this.#run((room) => {
      const heard = room.awareness.receive(this, update)
      if (heard === 'malformed') return this.end('badMessage', 'Malformed awareness update.')
      if (heard === 'tooLarge') return this.end('badMessage', 'An awareness state has at most 16 KiB.')
      room.awarenessChanged()
      const { document } = this.#participant
      if (heard === 'changed') document.active(this.#participant)
      else document.heard(this.#participant)
    })
  }

  /** Sends a message that is not stored to the other clients of the editor. */
  relay(payload: Uint8Array, onRefused: (refusal: StatelessRefusal) => void): void {
    this.#run((room) => room.stateless.send(this, payload, onRefused))
  }

  queryAwareness(): void {
    this.#run((room) => {
      // Whoever asks again so soon has been sent everything, and the changes since.
      const isSoon = this.#delivery.msSinceAll < askAgainMs
      if (isSoon || !this.#delivery.sendAll(room.awareness)) this.send(this.framing.awareness(emptyAwareness))
    })
  }

  /** The client may write now: asks for what was refused before. */
  mayWrite(): void {
    if (this.#wasRefused) this.askForMore()
  }

  askForMore(): void {
    const now = performance.now()
    this.#mustAsk = now - this.#askedAt < askAgainMs
    if (this.#room && !this.#mustAsk) this.#ask(this.#room, now)
  }

  #ask(room: EditorRoom, now = performance.now()): void {
    this.#askedAt = now
    this.#mustAsk = false
    this.send(this.framing.syncStep1(room.stateVector()))
  }

  /** Whether the client is to hear no more: another session may have its place on the connection. */
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
    return this.#connection.states.keep(this, bytes)
  }

  /** Called every now and then. */
  makeUp(): void {
    if (this.#mustAsk) this.askForMore()
    if (this.#room) this.#delivery.catchUp(this.#room.awareness)
  }

  end(reason: CloseReason, message: string): void {
    if (this.#hasLeft) return
    this.leave()
    this.#ended(reason, message)
  }

  /** The client is gone and hears no more; what it sent before still counts. */
  finish(then: () => void): void {
    this.#isFinishing = true
    if (this.#participant.hasWork || this.#waiting.length > 0) this.#run(then)
    else then()
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#waiting.clear()
    while (this.#holds > 0) this.#release()
    if (!this.#room) return
    this.#room.members.delete(this)
    this.#room.awareness.leave(this.sessionId)
    this.#room.awarenessChanged()
  }
}
