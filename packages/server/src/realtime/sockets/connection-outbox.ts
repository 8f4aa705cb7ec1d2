import type { Socket } from 'node:net'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import type { Scheduler, SlicedTask } from '../../platform/turns/scheduler.ts'
import { fragmentsOf, frameOf, lengthOf, type Message, pingFrame } from './frames.ts'
import type { LateFrames, LateSender } from './late-frames.ts'

/** Bytes of the payload of one fragment. A larger message is sent in several frames. */
export const fragmentBytes = 64 * 1024
/** More bytes of late frames than this are sent immediately. */
const maxLateBytes = 4 * 1024

/** What the outbox needs of its connection. */
export interface OutboxHost {
  readonly scheduler: Scheduler
  readonly owner: WorkOwner
  /** Called when the client has not read all that was written. */
  onBytesWait(): void
}

/** A message that is sent in fragments. */
interface FragmentedMessage {
  fragments: Generator<Uint8Array[]>
  /** Bytes of the payload that are not written to the socket yet. */
  leftBytes: number
  /** Called when the last fragment is written or the outbox is closed. */
  onDone: () => void
}

/** A caller of `whenUnsentAtMost`. */
interface UnsentWaiter {
  maxBytes: number
  resolve: () => void
}

/**
 * The frames for one client on their way to its socket, in order. A message larger than a fragment is written one fragment
 * at a time, as fast as the client reads it. The socket holds at most two fragments, which are views of the message's parts.
 * Later frames wait behind the message. Control frames may come between fragments (RFC 6455, 5.4): pings, and the pongs and
 * closes that `ws` writes to the same socket.
 */
export class ConnectionOutbox implements SlicedTask, LateSender {
  readonly #socket: Socket
  readonly #host: OutboxHost
  readonly #lateFrames: LateFrames
  /** The frames that wait for the next frame. Undefined while the queue is not empty. */
  #late: Buffer | undefined
  /** If the first entry is fragmented, some of its fragments may be written already. */
  #queue: (Buffer | FragmentedMessage)[] = []
  /** Bytes of the unfragmented frames in the queue. */
  #queuedBytes = 0
  /** An upper bound for the bytes of answers in the socket. They do not count as `waitingBytes`. */
  #answerBytes = 0
  /** Unwritten bytes of the fragmented messages in the queue. */
  #leftBytes = 0
  /** What the outbox listens to while it waits for the socket. */
  #listeners: { drain: () => void; close: () => void } | undefined
  #isClosed = false
  #unsentWaiters: UnsentWaiter[] = []

  constructor(socket: Socket, host: OutboxHost, lateFrames: LateFrames) {
    this.#socket = socket
    this.#host = host
    this.#lateFrames = lateFrames
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Bytes that wait for the client, without answers that it requested. Small answers in the queue are included. */
  get waitingBytes(): number {
    const { writableLength } = this.#socket
    return writableLength - Math.min(this.#answerBytes, writableLength) + this.#queuedBytes
  }

  /** Bytes that wait for the client, including answers. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#queuedBytes + this.#leftBytes
  }

  send(frame: Buffer): void {
    if (this.#queue.length === 0) this.#write(this.#takeWithLate(frame))
    else {
      this.#queue.push(frame)
      this.#queuedBytes += frame.length
    }
  }

  /**
   * Sends a frame that is not urgent: together with the next frame, or after `maxDelayMs`. A write to a socket costs the same
   * for one small frame as for two.
   */
  sendLater(frame: Buffer): void {
    if (this.#isClosed) return
    if (this.#queue.length > 0) return this.send(frame)
    if (this.#late === undefined) this.#lateFrames.add(this)
    this.#late = this.#late ? Buffer.concat([this.#late, frame]) : frame
    if (this.#late.length > maxLateBytes) this.flushLate()
  }

  /** Sends a ping that may have a message before it. While a message is sent in fragments, the ping goes alone between them. */
  ping(frames: Buffer): void {
    if (this.#socket.writable) this.#write(this.#queue.length === 0 ? this.#takeWithLate(frames) : pingFrame)
  }

  /** Sends the late frames now. */
  flushLate(): void {
    if (this.#late && this.#socket.writable) this.#write(this.#takeWithLate())
  }

  #write(bytes: Buffer): void {
    this.#socket.write(bytes)
    if (this.#socket.writableLength > 0) this.#host.onBytesWait()
  }

  /** Returns the late frames and this frame as one buffer. Many connections may send the same frame, so it is not changed. */
  #takeWithLate(frame?: Buffer): Buffer {
    const late = this.#late
    if (late === undefined) return frame as Buffer
    this.#late = undefined
    this.#lateFrames.delete(this)
    return frame ? Buffer.concat([late, frame]) : late
  }

  /**
   * Sends what the client requested. Calls `onDone` once: for a small answer immediately, for a large one when all bytes
   * are written or the outbox is closed.
   */
  answer(answer: Buffer | Message, onDone: () => void = () => {}): void {
    if (this.#isClosed) return onDone()
    this.flushLate()
    const leftBytes = Buffer.isBuffer(answer) ? 0 : lengthOf(answer.parts)
    if (Buffer.isBuffer(answer) || leftBytes <= fragmentBytes) {
      const frame = Buffer.isBuffer(answer) ? answer : frameOf(answer)
      if (this.#queue.length === 0) this.#writeAnswer([frame], frame.length)
      else this.send(frame)
      return onDone()
    }
    this.#queue.push({ fragments: fragmentsOf(answer, fragmentBytes), leftBytes, onDone })
    this.#leftBytes += leftBytes
    this.#host.onBytesWait()
    this.#host.scheduler.schedule(this)
  }

  run(deadline: number): boolean {
    // No frame may follow the closing handshake.
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
      this.#write(next)
    } else if (next) this.#writeFragment(next)
  }

  #writeFragment(message: FragmentedMessage): void {
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
    message.onDone()
  }

  #writeAnswer(buffers: readonly Uint8Array[], bytes: number): void {
    // The client may have read bytes of answers since the last write.
    this.#answerBytes = Math.min(this.#answerBytes, this.#socket.writableLength) + bytes
    this.#socket.cork()
    for (const buffer of buffers) this.#socket.write(buffer)
    this.#socket.uncork()
    if (this.#socket.writableLength > 0) this.#host.onBytesWait()
    else this.onSocketEmpty()
  }

  /** Call it when the socket is empty: then no bytes of answers are left in it. */
  onSocketEmpty(): void {
    this.#answerBytes = 0
  }

  /** Resolves when at most `maxBytes` are unsent, or the outbox is closed. */
  async whenUnsentAtMost(maxBytes: number): Promise<void> {
    if (this.unsentBytes <= maxBytes || this.#isClosed || this.#socket.destroyed) return
    await new Promise<void>((resolve) => {
      this.#unsentWaiters.push({ maxBytes, resolve })
      this.#settle()
    })
  }

  /** Resolves the waiters whose condition holds. Listens for `drain` while frames or waiters wait for the socket. */
  #settle(): void {
    const isDrained = ({ maxBytes }: UnsentWaiter) => this.#isClosed || this.unsentBytes <= maxBytes
    const drained = this.#unsentWaiters.filter(isDrained)
    if (drained.length > 0)
      this.#unsentWaiters = this.#unsentWaiters.filter((waiter) => !drained.includes(waiter))
    for (const { resolve } of drained) resolve()
    const isBlocked =
      this.#socket.writableNeedDrain && (this.#queue.length > 0 || this.#unsentWaiters.length > 0)
    if (isBlocked === (this.#listeners !== undefined)) return
    if (this.#listeners) {
      this.#socket.off('drain', this.#listeners.drain).off('close', this.#listeners.close)
      this.#listeners = undefined
    } else {
      this.#listeners = { drain: () => this.#onDrain(), close: () => this.close() }
      this.#socket.on('drain', this.#listeners.drain).on('close', this.#listeners.close)
    }
  }

  #onDrain(): void {
    if (this.#queue.length > 0) this.#host.scheduler.schedule(this)
    this.#settle()
  }

  /** Drops the queue. Nothing more is sent. */
  close(): void {
    if (this.#isClosed) return
    this.flushLate()
    this.#lateFrames.delete(this)
    this.#isClosed = true
    const queue = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    this.#leftBytes = 0
    for (const entry of queue) if (!Buffer.isBuffer(entry)) entry.onDone()
    this.#settle()
  }
}
