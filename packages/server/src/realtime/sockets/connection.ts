import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { closeCodes, type CloseReason } from '@plenum/protocol/realtime'
import { type Clock, type StopTimer, systemClock } from '../../platform/clock.ts'
import { ByteBudget } from '../../platform/turns/byte-budget.ts'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import { type UnsentAnswer, UnsentAnswers } from '../../platform/turns/unsent-answers.ts'
import type { WorkHost } from '../../platform/turns/work-queue.ts'
import { type ClientSocket, type SocketListener, tooLargeReason } from './client-socket.ts'
import { ConnectionInbox, type InboxHost } from './connection-inbox.ts'
import { ConnectionOutbox, fragmentBytes } from './connection-outbox.ts'
import { lengthOf, type Message } from './frames.ts'
import { LateFrames } from './late-frames.ts'

/** Bytes that may wait for a slow client, not counting the answers that it requested. */
export const maxWaitingBytes = 1024 * 1024
/** A client counts as behind or busy while more bytes than this wait for it. */
const behindBytes = maxWaitingBytes / 4
/** Bytes of presence data and awareness states that the server keeps for one connection, which may have 2,000 of them. */
const maxStateBytes = 1024 * 1024
/** A client is closed if bytes wait for it and it reads none of them for this time. */
const stallTimeoutMs = 10_000
/** Time spent on answers to one client before other work gets a turn. */
const maxAnswerMs = 2
/** Time for the client's half of the closing handshake. A slow client must first read the bytes that wait for it. */
const closeTimeoutMs = 2_000
const slowCloseTimeoutMs = 5_000
/** The server reads this many bytes from a client whose close is delayed. Further bytes wait in the client's socket. */
const maxIgnoredBytes = 64 * 1024

export interface ConnectionOptions {
  /** Default: a scheduler of its own. */
  scheduler?: Scheduler
  /** Default: a budget of its own. */
  unsentAnswers?: UnsentAnswers
  /** Default: a timer of its own. */
  lateFrames?: LateFrames
  /** Default: the clock of the system. */
  clock?: Clock
}

/** The dialect of the client. */
export interface MessageReceiver {
  /** The close reason for a client that sends a message above the limit of all messages. Default: code 1009 of `ws`. */
  readonly oversizeReason?: CloseReason
  /** Handles a message. Returns false if it is not part of the protocol. An error that it throws closes this connection. */
  receive(data: Buffer, isBinary: boolean): boolean
  /** Closes the connection of the client, and says why. */
  deny(reason: CloseReason, message: string): void
}

/** Learns what happens to the connection. */
export interface ConnectionListener {
  /** The client has sent something: a message, a ping or a pong. */
  onAlive(): void
  /** The client has not read all that was written. `checkProgress` must be called until `hasWaiting` is false. */
  onBytesWait(): void
  /** The socket is closed. `code` is the close code that the server sent. If it sent none, the client's code. */
  onConnectionClosed(code: number): void
}

type State =
  | { readonly name: 'open' }
  /** The client is refused. The timer closes the connection later. */
  | { readonly name: 'closeDelayed'; readonly stopTimer: StopTimer }
  /** `acceptsMessages`: whether messages that the client sent before the close are still handled. */
  | { readonly name: 'closed'; readonly acceptsMessages: boolean; readonly stopTimer?: StopTimer }

const open: State = { name: 'open' }

/** The socket of one client: sends frames, bounds what waits for the client, and closes once. */
export class Connection implements WorkHost, InboxHost, SocketListener {
  readonly id: string
  readonly inbox: ConnectionInbox
  readonly scheduler: Scheduler
  /**
   * The user whose share of the event loop's time this connection uses. An unidentified connection counts as a user of its
   * own.
   */
  owner: WorkOwner
  /** Memory for presence data and awareness states of this client. */
  readonly stateBudget = new ByteBudget(maxStateBytes)
  listener: ConnectionListener | undefined
  readonly #ws: ClientSocket
  readonly #socket: Socket
  readonly #outbox: ConnectionOutbox
  readonly #unsentAnswers: UnsentAnswers
  readonly #clock: Clock
  readonly #openedAt: number
  /** What `checkProgress` saw last: bytes that have left Node's buffer of the socket. */
  #takenBytes = 0
  /** What `checkProgress` saw last: bytes left of the write that the system has in progress. */
  #unwrittenBytes = 0
  /** When `checkProgress` last saw one of these numbers change, or bytes begin to wait. */
  #progressAt = 0
  #hasWaiting = false
  /** Settles when the last call of `answerInTurn` is done. */
  #lastAnswer: Promise<void> | undefined
  /** Time spent on answers since other work last got a turn. */
  #answerMs = 0
  #state: State = open
  #receiver: MessageReceiver | undefined
  /** Called when the socket is closed after a delay. */
  #onLateClose: (() => void) | undefined

  constructor(id: string, ws: ClientSocket, socket: Socket, options: ConnectionOptions = {}) {
    const { scheduler = new Scheduler(), unsentAnswers = new UnsentAnswers(), clock = systemClock } = options
    this.id = id
    this.scheduler = scheduler
    this.owner = { apiKey: '', userId: id }
    this.inbox = new ConnectionInbox(ws, this)
    this.#ws = ws
    this.#socket = socket
    this.#outbox = new ConnectionOutbox(socket, this, options.lateFrames ?? new LateFrames(clock))
    this.#unsentAnswers = unsentAnswers
    this.#clock = clock
    this.#openedAt = clock.elapsed()
    ws.listener = this
  }

  /** Begins to read. `receiver` gets the messages. */
  start(receiver: MessageReceiver): void {
    this.#receiver = receiver
    this.inbox.start()
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.listener?.onAlive()
    this.inbox.receive(data, isBinary)
  }

  onPing(): void {
    this.listener?.onAlive()
    // `ws` has answered a ping by itself.
    if (this.#socket.writableLength > 0) this.onBytesWait()
  }

  onTooLarge(): boolean {
    const receiver = this.#receiver
    if (receiver?.oversizeReason === undefined) return false
    receiver.deny(receiver.oversizeReason, tooLargeReason)
    return true
  }

  onSocketClosed(code: number): void {
    this.#enterClosed(this.acceptsMessages)
    this.#outbox.close()
    this.listener?.onConnectionClosed(this.#ws.sentCode ?? code)
    this.#onLateClose?.()
  }

  /** The client could not show that it is alive while its socket was paused. */
  onResumed(): void {
    this.listener?.onAlive()
  }

  /** Called by the inbox when the message has its turn. */
  deliver(data: Buffer, isBinary: boolean): void {
    const receiver = this.#receiver
    if (receiver === undefined || !this.acceptsMessages) return
    try {
      if (!receiver.receive(data, isBinary))
        receiver.deny('badMessage', 'The message is not part of the protocol.')
    } catch {
      receiver.deny('badMessage', 'The message is malformed.')
    }
  }

  get isOpen(): boolean {
    return this.#state.name === 'open'
  }

  get ageMs(): number {
    return this.#clock.elapsed() - this.#openedAt
  }

  get isIdentified(): boolean {
    return this.owner.apiKey !== ''
  }

  /** Whether messages of the client are still handled. False after a refusal and after a final close reason. */
  get acceptsMessages(): boolean {
    if (this.#state.name === 'closed') return this.#state.acceptsMessages
    return this.#state.name === 'open'
  }

  /** Whether many bytes wait for the client. Then frames are skipped whose content can be sent later. */
  get isBehind(): boolean {
    return this.#outbox.waitingBytes > behindBytes
  }

  /** Like `isBehind`, but bytes of requested answers count too. */
  get isBusy(): boolean {
    return this.#outbox.unsentBytes > behindBytes
  }

  /** Runs `answer` after the earlier answers, once few bytes are unsent, so that large answers are built one at a time. */
  answerInTurn(answer: () => Promise<void>): Promise<void> {
    const turn = (this.#lastAnswer ?? Promise.resolve()).then(async () => {
      await this.#outbox.whenUnsentAtMost(behindBytes)
      const startedAt = performance.now()
      if (this.isOpen) await answer()
      this.#answerMs += performance.now() - startedAt
    })
    // A short answer runs without a pause, because it must contain what was stored when the client asked.
    const done = turn
      .catch(() => {})
      .then(() => {
        if (this.#answerMs < maxAnswerMs) return
        this.#answerMs = 0
        return setImmediate()
      })
      .then(() => {
        if (this.#lastAnswer === done) this.#lastAnswer = undefined
      })
    this.#lastAnswer = done
    return turn
  }

  /** Sends a frame of `frames.ts`. Many connections may send the same bytes. */
  send(frame: Buffer): void {
    if (this.#canSend()) this.#outbox.send(frame)
  }

  /** Sends a frame that is not urgent: together with the next frame, and after a quarter of a second at the latest. */
  sendLater(frame: Buffer): void {
    if (this.#canSend()) this.#outbox.sendLater(frame)
  }

  /** Closes a client for which too many bytes wait. The next frame does not count: it may be as large as the limit. */
  #canSend(): boolean {
    if (this.isOpen && this.#outbox.waitingBytes > maxWaitingBytes) this.#closeSlow()
    return this.isOpen
  }

  /**
   * Sends what the client requested, such as a whole document. The answer does not count towards `maxWaitingBytes`, unless
   * it is small and waits behind a large one. With `source`, a large answer counts towards the memory limits of unsent
   * answers.
   */
  answer(answer: Buffer | Message, source?: Omit<UnsentAnswer, 'cut'>): void {
    if (!this.isOpen) return
    const isLarge = source && !Buffer.isBuffer(answer) && lengthOf(answer.parts) > fragmentBytes
    if (!isLarge) return this.#outbox.answer(answer)
    const cut = () => this.#closeSlow()
    this.#outbox.answer(answer, this.#unsentAnswers.add({ ...source, cut }))
  }

  /** Whether the limits of unsent answers allow a body of this size that only this client gets. */
  hasSpaceFor(apiKey: string, bytes: number): boolean {
    return bytes <= fragmentBytes || this.#unsentAnswers.hasSpaceFor(apiKey, bytes)
  }

  /** Whether bytes wait for the client, as far as `checkProgress` knows. */
  get hasWaiting(): boolean {
    return this.#hasWaiting
  }

  /**
   * Called by the heartbeat while bytes wait. Closes a client that reads nothing, however little waits for it. Returns true if the client has
   * read bytes that had to wait, which proves that it is alive.
   */
  checkProgress(): boolean {
    const { writableLength } = this.#socket
    if (writableLength === 0) return this.#onSocketEmpty()
    const now = this.#clock.elapsed()
    const takenBytes = this.#socket.bytesWritten - writableLength
    const unwrittenBytes = unwrittenBytesOf(this.#socket)
    const hasProgress = takenBytes !== this.#takenBytes || unwrittenBytes !== this.#unwrittenBytes
    const isAlive = hasProgress && this.#unwrittenBytes > 0
    if (hasProgress) {
      this.#takenBytes = takenBytes
      this.#unwrittenBytes = unwrittenBytes
      this.#progressAt = now
    } else if (now - this.#progressAt > stallTimeoutMs) {
      this.close('slow', 'The client takes no more data.')
    }
    return isAlive
  }

  /** Called by the outbox when the client has not read all that was written. */
  onBytesWait(): void {
    if (this.#hasWaiting) return
    this.#hasWaiting = true
    this.#progressAt = this.#clock.elapsed()
    this.listener?.onBytesWait()
  }

  #onSocketEmpty(): boolean {
    const isAlive = this.#unwrittenBytes > 0
    this.#unwrittenBytes = 0
    // A large answer may write its next part later.
    this.#hasWaiting = this.#outbox.unsentBytes > 0
    this.#outbox.onSocketEmpty()
    return isAlive
  }

  /** `frames` ends with a ping. */
  ping(frames: Buffer): void {
    if (this.#canSend()) this.#outbox.ping(frames)
  }

  /** Holds back the client's messages until every holder has called `release`. */
  hold(): void {
    this.inbox.hold()
  }

  release(): void {
    this.inbox.release()
  }

  /** Closes the connection after a delay. Until then, the server answers pings, sends nothing else and ignores messages. */
  closeAfter(delayMs: number, reason: CloseReason, message: string, onClosed: () => void): void {
    if (!this.isOpen) return onClosed()
    const stopTimer = this.#clock.setTimeout(() => this.close(reason, message), delayMs)
    this.#state = { name: 'closeDelayed', stopTimer }
    this.#outbox.close()
    this.inbox.stop()
    let ignoredBytes = 0
    this.#socket.on('data', (chunk: Buffer) => {
      ignoredBytes += chunk.length
      if (ignoredBytes > maxIgnoredBytes && this.#state.name === 'closeDelayed') this.#ws.pause()
    })
    this.#onLateClose = onClosed
  }

  close(reason: CloseReason, message: string): void {
    if (this.#state.name === 'closed') return
    const wasDelayed = this.#state.name === 'closeDelayed'
    this.#enterClosed(
      this.acceptsMessages && !isFinal(reason),
      this.#clock.setTimeout(
        () => this.#ws.terminate(),
        reason === 'slow' ? slowCloseTimeoutMs : closeTimeoutMs,
      ),
    )
    this.#outbox.close()
    this.#ws.close(closeCodes[reason], shortened(message))
    // The client's half of the closing handshake must be read.
    this.inbox.stop()
    if (wasDelayed) this.#ws.resume()
  }

  #closeSlow(): void {
    this.close('slow', 'The client reads too slowly.')
  }

  /** Closes the connection without a closing handshake, for a client that does not respond. */
  terminate(): void {
    this.#enterClosed(this.acceptsMessages)
    this.#outbox.close()
    this.inbox.stop()
    this.#ws.terminate()
  }

  #enterClosed(acceptsMessages: boolean, stopTimer?: StopTimer): void {
    if (this.#state.name !== 'open') this.#state.stopTimer?.()
    this.#state = { name: 'closed', acceptsMessages, stopTimer }
  }
}

/** Whether the close code tells the client not to reconnect. */
export const isFinal = (reason: CloseReason) => closeCodes[reason] >= 4400 && closeCodes[reason] < 4500

/**
 * Bytes left of the write in progress. A large frame is one write, which Node counts as written only at its end. A client
 * with a slow line takes minutes for that. Node's own socket timeout reads the same number.
 */
const unwrittenBytesOf = (socket: Socket): number =>
  // oxlint-disable-next-line no-underscore-dangle -- no public property has this number
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0

/** A close frame has space for 123 bytes: 3 are for `…`, and a character that is cut in half takes up to 2 more. */
function shortened(message: string): string {
  return Buffer.byteLength(message) <= 123 ? message : `${Buffer.from(message).toString('utf8', 0, 118)}…`
}
