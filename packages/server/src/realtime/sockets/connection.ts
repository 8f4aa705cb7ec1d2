import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { closeCodes, type CloseReason } from '@plenum/protocol/realtime'
import type { WebSocket } from 'ws'
import { ConnectionInbox, type InboxHost } from './connection-inbox.ts'
import { ConnectionOutbox, fragmentBytes } from './connection-outbox.ts'
import { ByteBudget } from '../../platform/turns/byte-budget.ts'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import { FairTurns } from '../../platform/turns/fair-turns.ts'
import { type UnsentAnswer, UnsentAnswers } from '../../platform/turns/unsent-answers.ts'
import { lengthOf, type Message } from './frames.ts'
import type { WorkHost } from '../../platform/turns/work-queue.ts'

/** Bytes that may wait for a client that reads slowly, beyond the answers it asked for. */
export const mostQueued = 1024 * 1024
/** Presence data and awareness states that the server keeps for one connection, which may have 2,000 of them. */
const maxStateBytes = 1024 * 1024
/** How long a client may take nothing of what waits for it. */
const stalledMs = 10_000
/** How long answers to one client are made without a pause. */
const maxAnswerMs = 2
/** How long a client has for its half of the goodbye; a slow one must first take what waits for it. */
const goodbyeMs = 2_000
const slowGoodbyeMs = 5_000
/** Bytes that are read of a client that is closed later; the rest waits in its socket. */
const maxIgnoredBytes = 64 * 1024

/** One client's socket: frames out, with a bound on what waits; the end, once. */
export class Connection implements WorkHost, InboxHost {
  readonly id: string
  readonly inbox: ConnectionInbox
  readonly turns: FairTurns
  /** Whose time its work takes: until it is known who the client is, a user of its own. */
  owner: WorkOwner
  /** What the server keeps of what the client shows to others. */
  readonly states = new ByteBudget(maxStateBytes)
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #outbox: ConnectionOutbox
  readonly #answers: UnsentAnswers
  readonly #openedAt = performance.now()
  #taken = 0
  #left = 0
  #takenAt = performance.now()
  #turn: Promise<void> = Promise.resolve()
  #answerMs = 0
  #ended = false
  #takesMessages = true
  /** Runs while the connection is to be closed later. */
  #closing: NodeJS.Timeout | undefined

  constructor(
    id: string,
    ws: WebSocket,
    socket: Socket,
    turns = new FairTurns(),
    answers = new UnsentAnswers(),
  ) {
    this.id = id
    this.turns = turns
    this.owner = { apiKey: '', userId: id }
    this.inbox = new ConnectionInbox(ws, this)
    this.#ws = ws
    this.#socket = socket
    this.#outbox = new ConnectionOutbox(socket, this)
    this.#answers = answers
    // Without a listener one bad frame would end the process. What is wrong with it shows in the close code.
    ws.on('error', () => {})
    ws.on('close', () => {
      clearTimeout(this.#closing)
      this.#ended = true
      this.#outbox.close()
    })
  }

  get isOpen(): boolean {
    return !this.#ended
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt
  }

  get isIdentified(): boolean {
    return this.owner.apiKey !== ''
  }

  /** Whether what the client sent before it was closed still counts. Not, if the client was sent away for good. */
  get takesMessages(): boolean {
    return this.#takesMessages
  }

  /** Whether frames that can be made up for later should be left out. */
  get isBehind(): boolean {
    return this.#outbox.waitingBytes > mostQueued / 4
  }

  /** Whether a good deal waits, be it asked for or not. */
  get isBusy(): boolean {
    return this.#outbox.unsentBytes > mostQueued / 4
  }

  /** Makes large answers one after the other, each when the client has taken those before. */
  inTurn(answer: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(async () => {
      await this.#outbox.drained(mostQueued / 4)
      const began = performance.now()
      if (!this.#ended) await answer()
      this.#answerMs += performance.now() - began
    })
    // Other work comes in between, but not before a short answer: it is to hold what was stored when the client asked.
    this.#turn = turn
      .catch(() => {})
      .then(() => {
        if (this.#answerMs < maxAnswerMs) return
        this.#answerMs = 0
        return setImmediate()
      })
    return turn
  }

  /** A frame of `frames.ts`: the same bytes may go to many. */
  send(frame: Buffer): void {
    if (this.#ended) return
    // By what waited before: one frame may be as large as all that may wait.
    if (this.#outbox.waitingBytes > mostQueued) return this.close('slow', 'The client reads too slowly.')
    this.#outbox.send(frame)
  }

  /** What the client asked for, such as a whole document: may be larger than what else may wait. */
  answer(answer: Buffer | Message, source?: Omit<UnsentAnswer, 'cut'>): void {
    if (this.#ended) return
    const isLarge = source && !Buffer.isBuffer(answer) && lengthOf(answer.parts) > fragmentBytes
    if (!isLarge) return this.#outbox.answer(answer)
    const cut = () => this.close('slow', 'The client reads too slowly.')
    this.#outbox.answer(answer, this.#answers.add({ ...source, cut }))
  }

  /** Whether bytes that only this client gets may be made for it. */
  hasRoomFor(apiKey: string, bytes: number): boolean {
    return bytes <= fragmentBytes || this.#answers.hasSpaceFor(apiKey, bytes)
  }

  /**
   * Called every now and then: a client that takes nothing is given up, however little waits. True if it has taken
   * something that had to wait for it, so that somebody must be there.
   */
  checkProgress(now = performance.now()): boolean {
    const { writableLength, bytesWritten } = this.#socket
    const taken = bytesWritten - writableLength
    const left = leftOfWrite(this.#socket)
    const isTaken = taken !== this.#taken || left !== this.#left
    const isThere = isTaken && this.#left > 0
    if (writableLength === 0 || isTaken) {
      this.#taken = taken
      this.#left = left
      this.#takenAt = now
      if (writableLength === 0) this.#outbox.taken()
    } else if (now - this.#takenAt > stalledMs) {
      this.close('slow', 'The client takes no more data.')
    }
    return isThere
  }

  ping(): void {
    if (!this.#ended) this.#ws.ping()
  }

  /** Holds back the client's messages until every holder has called `release`. */
  hold(): void {
    this.inbox.hold()
  }

  release(): void {
    this.inbox.release()
  }

  /** Until it is closed, the client is sent nothing but pongs, and its messages are ignored. */
  closeAfter(delayMs: number, reason: CloseReason, message: string, onClosed: () => void): void {
    if (this.#ended) return onClosed()
    this.#ended = true
    this.#takesMessages = false
    this.#outbox.close()
    this.inbox.stop()
    let ignoredBytes = 0
    this.#socket.on('data', (chunk: Buffer) => {
      ignoredBytes += chunk.length
      if (ignoredBytes > maxIgnoredBytes && this.#closing) this.#ws.pause()
    })
    this.#ws.once('close', onClosed)
    this.#closing = setTimeout(() => this.close(reason, message), delayMs)
  }

  close(reason: CloseReason, message: string): void {
    if (this.#ended && !this.#closing) return
    this.#ended = true
    this.#outbox.close()
    this.#takesMessages &&= !isFinal(reason)
    this.#ws.close(closeCodes[reason], shortened(message))
    // The client's half of the closing handshake must be read.
    this.inbox.stop()
    if (this.#closing) this.#ws.resume()
    clearTimeout(this.#closing)
    this.#closing = undefined
    setTimeout(() => this.#ws.terminate(), reason === 'slow' ? slowGoodbyeMs : goodbyeMs).unref()
  }

  /** Nothing was heard for too long: nobody is there to be told. */
  terminate(): void {
    this.#ended = true
    this.#outbox.close()
    this.inbox.stop()
    this.#ws.terminate()
  }
}

/** Whether connecting again is of no use. */
export const isFinal = (reason: CloseReason) => closeCodes[reason] >= 4400 && closeCodes[reason] < 4500

/**
 * Bytes of the write that is under way. A document is one write, which counts as taken when all of it is; a client with a
 * slow line is at it for minutes. Node's own timeout of sockets looks here as well.
 */
const leftOfWrite = (socket: Socket): number =>
  // oxlint-disable-next-line no-underscore-dangle -- it can be seen nowhere else
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0

/** A reason of a close frame has at most 123 bytes; three for the dots, and two more where a character is cut. */
function shortened(message: string): string {
  return Buffer.byteLength(message) <= 123 ? message : `${Buffer.from(message).toString('utf8', 0, 118)}…`
}
