import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import type { Scheduler, SlicedTask } from '../../platform/turns/scheduler.ts'

/** The socket is paused while more bytes than this wait in the inbox. From a paused socket, pings are not read either. */
const maxQueuedBytes = 64 * 1024
/**
 * Bytes that are delivered although the connection is on hold, so that a client that opens many documents at once gets the
 * documents in parallel. The dialect queues messages that it cannot handle yet.
 */
const maxBytesOnHold = 64 * 1024
/** Memory of a message besides its bytes. It is added to them, so that the number of small messages is bounded. */
const messageOverheadBytes = 256

/** What the inbox needs of its connection. */
export interface InboxHost {
  readonly scheduler: Scheduler
  readonly owner: WorkOwner
  readonly isIdentified: boolean
  /** Called when the socket is read again after a pause. */
  onResumed(): void
  /** Called when a message has its turn. */
  deliver(data: Buffer, isBinary: boolean): void
}

/** The socket from which the messages come. */
interface PausableSocket {
  pause(): void
  resume(): void
}

interface QueuedMessage {
  bytes: number
  deliver: () => void
}

/**
 * The messages of one client between its socket and its dialect, in order. A hold keeps back messages only: pings, pongs
 * and the closing handshake are read until the socket is paused. Invariant: the socket is paused while the inbox has not
 * started, while an unidentified client is on hold (R16), and while more than `maxQueuedBytes` wait. A stopped inbox never
 * pauses the socket.
 */
export class ConnectionInbox implements SlicedTask {
  readonly #socket: PausableSocket
  readonly #host: InboxHost
  #queue: QueuedMessage[] = []
  #queuedBytes = 0
  #bytesOnHold = 0
  /** How often `hold` was called without a `release`. */
  #holdCount = 0
  #isStarted = false
  #isStopped = false
  #isDeliveringRest = false
  #isPaused = false
  #isScheduled = false

  constructor(socket: PausableSocket, host: InboxHost) {
    this.#socket = socket
    this.#host = host
    this.#updatePause()
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Whether the socket is paused. Then silence does not mean that the client is gone. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  get hasWaiting(): boolean {
    return this.#queue.length > 0
  }

  /** Begins to read. */
  start(): void {
    this.#isStarted = true
    this.#updatePause()
  }

  /** Delivers a message that has arrived, or queues it. */
  receive(data: Buffer, isBinary: boolean): void {
    if (this.#isStopped) return
    const host = this.#host
    if (this.#holdCount > 0 || !this.#mayDeliver)
      return this.#add(data.length, () => host.deliver(data, isBinary))
    const startedAt = host.scheduler.startTiming()
    try {
      host.deliver(data, isBinary)
    } finally {
      host.scheduler.stopTiming(startedAt)
    }
  }

  /** Holds back further messages until every holder has called `release`. */
  hold(): void {
    this.#holdCount++
    this.#updatePause()
  }

  release(): void {
    if (--this.#holdCount > 0) return
    this.#bytesOnHold = 0
    // Deferred, because the caller of `release` may be in the middle of an operation.
    if (this.hasWaiting && !this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#host.scheduler.schedule(this)
      })
    }
    this.#updatePause()
  }

  /** Ignores messages that arrive from now on, and reads the socket to its end. Earlier messages are still delivered. */
  stop(): void {
    this.#isStopped = true
    this.#updatePause()
  }

  /** The client is gone: lifts all holds, delivers everything that the client sent, then calls `onDelivered`. */
  deliverRest(onDelivered: () => void): void {
    this.#isStopped = true
    this.#isDeliveringRest = true
    this.#add(0, onDelivered)
  }

  /** Delivers the message now if that is possible, or queues it. */
  #add(bytes: number, deliver: () => void): void {
    const { scheduler } = this.#host
    const message = { bytes: bytes + messageOverheadBytes, deliver }
    if (this.#mayDeliver) return scheduler.runNow(() => this.#deliver(message))
    this.#queue.push(message)
    this.#queuedBytes += message.bytes
    this.#updatePause()
    if (this.#isReady) scheduler.schedule(this)
  }

  run(deadline: number): boolean {
    while (this.hasWaiting && this.#isReady) {
      const message = this.#queue.shift() as QueuedMessage
      this.#queuedBytes -= message.bytes
      this.#deliver(message)
      if (performance.now() >= deadline) break
    }
    // An emptied array keeps its memory, and most inboxes stay empty from then on.
    if (!this.hasWaiting) this.#queue = []
    this.#updatePause()
    return this.hasWaiting && this.#isReady
  }

  #deliver({ bytes, deliver }: QueuedMessage): void {
    if (this.#holdCount > 0) this.#bytesOnHold += bytes
    deliver()
  }

  /** Whether a message that arrives now can be delivered immediately. */
  get #mayDeliver(): boolean {
    return this.#queue.length === 0 && this.#host.scheduler.hasTime && this.#isReady
  }

  /** Whether no hold keeps messages back. */
  get #isReady(): boolean {
    return this.#holdCount === 0 || this.#bytesOnHold < maxBytesOnHold || this.#isDeliveringRest
  }

  get #mustPause(): boolean {
    if (this.#isStopped) return false
    const isUnidentified = this.#holdCount > 0 && !this.#host.isIdentified
    return !this.#isStarted || isUnidentified || this.#queuedBytes > maxQueuedBytes
  }

  #updatePause(): void {
    if (this.#mustPause === this.#isPaused) return
    this.#isPaused = !this.#isPaused
    if (this.#isPaused) return this.#socket.pause()
    this.#host.onResumed()
    this.#socket.resume()
  }
}
