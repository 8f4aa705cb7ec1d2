import type { Socket } from 'node:net'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import type { FairTurns, TurnTaker } from '../../platform/turns/fair-turns.ts'
import { fragmentsOf, frameOf, lengthOf, type Message } from './frames.ts'

/** Payload of one fragment. A message that is not larger is sent in one frame. */
export const fragmentBytes = 64 * 1024

/** The connection of the client. */
export interface OutboxHost {
  readonly turns: FairTurns
  readonly owner: WorkOwner
}

/** A message that is sent in fragments. */
interface Sending {
  fragments: Generator<Uint8Array[]>
  leftBytes: number
  /** The last fragment is written, or the connection is closed. */
  onEnd: () => void
}

/** Somebody who goes on when no more than that many bytes are unsent. */
interface Waiting {
  maxBytes: number
  resolve: () => void
}

/**
 * The frames for one client on their way to its socket, in order. A message that is larger than a fragment is written
 * piece by piece as the client takes it: until then the socket holds at most two pieces, which are views of the message's
 * parts. Frames that follow wait behind it. Control frames, which `ws` writes to the same socket, may come between pieces,
 * because every piece is a whole frame of the protocol.
 */
export class ConnectionOutbox implements TurnTaker {
  readonly #socket: Socket
  readonly #host: OutboxHost
  /** The first is being sent, if it is one in fragments. */
  #queue: (Buffer | Sending)[] = []
  /** Bytes of the frames in the queue. */
  #queuedBytes = 0
  /** Bytes of answers that wait: they do not count against what may wait. */
  #answerBytes = 0
  #leftBytes = 0
  #isWatching = false
  #isClosed = false
  #drained: Waiting[] = []

  constructor(socket: Socket, host: OutboxHost) {
    this.#socket = socket
    this.#host = host
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Bytes that wait for the client beside the answers that it asked for. */
  get waitingBytes(): number {
    const { writableLength } = this.#socket
    return writableLength - Math.min(this.#answerBytes, writableLength) + this.#queuedBytes
  }

  /** Bytes that wait for the client, with the answers. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#queuedBytes + this.#leftBytes
  }

  send(frame: Buffer): void {
    if (this.#queue.length === 0) this.#socket.write(frame)
    else {
      this.#queue.push(frame)
      this.#queuedBytes += frame.length
    }
  }

  /** What the client asked for. `onEnd` is called once: when all of it is written, or nothing more will be. */
  answer(answer: Buffer | Message, onEnd: () => void = () => {}): void {
    if (this.#isClosed) return onEnd()
    const leftBytes = Buffer.isBuffer(answer) ? 0 : lengthOf(answer.parts)
    if (Buffer.isBuffer(answer) || leftBytes <= fragmentBytes) {
      const frame = Buffer.isBuffer(answer) ? answer : frameOf(answer)
      if (this.#queue.length === 0) this.#writeAnswer([frame], frame.length)
      else this.send(frame)
      return onEnd()
    }
    this.#queue.push({ fragments: fragmentsOf(answer, fragmentBytes), leftBytes, onEnd })
    this.#leftBytes += leftBytes
    this.#host.turns.add(this)
  }

  run(deadline: number): boolean {
    // After the closing handshake nothing may follow.
    if (!this.#socket.writable) this.close()
    while (this.#queue.length > 0 && this.#socket.writableLength < fragmentBytes) {
      this.#writeNext()
      if (performance.now() >= deadline) break
    }
    this.#settle()
    return this.#queue.length > 0 && this.#socket.writableLength < fragmentBytes
  }

  #writeNext(): void {
    const [next] = this.#queue
    if (Buffer.isBuffer(next)) {
      this.#queue.shift()
      this.#queuedBytes -= next.length
      this.#socket.write(next)
    } else if (next) this.#writeFragment(next)
  }

  #writeFragment(message: Sending): void {
    const { value } = message.fragments.next()
    if (value) {
      const [header, ...slices] = value as Uint8Array[]
      const bytes = lengthOf(slices)
      this.#writeAnswer(value, bytes + (header?.length ?? 0))
      message.leftBytes -= bytes
      this.#leftBytes -= bytes
    }
    if (message.leftBytes > 0) return
    this.#queue.shift()
    message.onEnd()
  }

  #writeAnswer(buffers: readonly Uint8Array[], bytes: number): void {
    // What was taken since does not wait any more.
    this.#answerBytes = Math.min(this.#answerBytes, this.#socket.writableLength) + bytes
    this.#socket.cork()
    for (const buffer of buffers) this.#socket.write(buffer)
    this.#socket.uncork()
  }

  /** The socket is empty: all answers were taken. */
  taken(): void {
    this.#answerBytes = 0
  }

  /** Resolves when no more than that many bytes wait, or when nothing more will be sent. */
  async drained(maxBytes: number): Promise<void> {
    if (this.unsentBytes <= maxBytes || this.#isClosed || this.#socket.destroyed) return
    await new Promise<void>((resolve) => {
      this.#drained.push({ maxBytes, resolve })
      this.#settle()
    })
  }

  /** Wakes those who waited for this, and watches the socket while something waits for it to drain. */
  #settle(): void {
    const isOver = ({ maxBytes }: Waiting) => this.#isClosed || this.unsentBytes <= maxBytes
    const over = this.#drained.filter(isOver)
    if (over.length > 0) this.#drained = this.#drained.filter((waiting) => !over.includes(waiting))
    for (const { resolve } of over) resolve()
    const isBlocked = this.#socket.writableNeedDrain && (this.#queue.length > 0 || this.#drained.length > 0)
    if (isBlocked === this.#isWatching) return
    this.#isWatching = isBlocked
    if (isBlocked) this.#socket.on('drain', this.#onDrain).on('close', this.#onClose)
    else this.#socket.off('drain', this.#onDrain).off('close', this.#onClose)
  }

  readonly #onDrain = (): void => {
    if (this.#queue.length > 0) this.#host.turns.add(this)
    this.#settle()
  }

  readonly #onClose = (): void => this.close()

  /** Nothing more is sent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const queue = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    this.#leftBytes = 0
    for (const entry of queue) if (!Buffer.isBuffer(entry)) entry.onEnd()
    this.#settle()
  }
}
