import type { WebSocket } from 'ws'
import type { WorkOwner } from '../../platform/turns/fair-queue.ts'
import type { Scheduler, SlicedTask } from '../../platform/turns/scheduler.ts'

/** The socket is paused while more bytes than this wait here. A paused socket reads no pings either. */
const maxQueuedBytes = 64 * 1024
/**
 * Bytes that are delivered while the connection is on hold, so that a client that opens many documents at once gets them
 * in parallel. The dialect queues what it cannot handle yet.
 */
const maxBytesOnHold = 64 * 1024
/** Memory of a message besides its bytes; bounds the number of small messages. */
const messageOverheadBytes = 256

/** What the inbox needs of its connection. */
export interface InboxHost {
  readonly turns: Scheduler
  readonly owner: WorkOwner
  readonly isIdentified: boolean
}

interface QueuedMessage {
  bytes: number
  deliver: () => void
}

/**
 * The messages of one client between its socket and its dialect, in order. A hold keeps back messages only: pings, pongs
 * and the closing handshake are read until the socket pauses. Invariant: the socket is paused while the inbox has not
 * started, while an unidentified client is on hold (R16), and while more than `maxQueuedBytes` wait.
 */
export class ConnectionInbox implements SlicedTask {
  readonly #ws: WebSocket
  readonly #host: InboxHost
  readonly #queue: QueuedMessage[] = []
  #queuedBytes = 0
  #bytesOnHold = 0
  #holds = 0
  #isStarted = false
  #isStopped = false
  #isFinishing = false
  #isPaused = false
  #isScheduled = false

  constructor(ws: WebSocket, host: InboxHost) {
    this.#ws = ws
    this.#host = host
    this.#updatePause()
  }

  get owner(): WorkOwner {
    return this.#host.owner
  }

  /** Whether the server does not read the socket, so silence does not mean that the client is gone. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  get hasWaiting(): boolean {
    return this.#queue.length > 0
  }

  /** `onArrival` is called as soon as a message arrives, `deliver` when the message has its turn. */
  start(deliver: (data: Buffer, isBinary: boolean) => void, onArrival: () => void): void {
    this.#isStarted = true
    const { turns } = this.#host
    this.#ws.on('message', (data: Buffer, isBinary) => {
      onArrival()
      if (this.#isStopped) return
      if (this.#holds > 0 || !this.#mayDeliver) return this.#add(data.length, () => deliver(data, isBinary))
      const startedAt = turns.startTiming()
      try {
        deliver(data, isBinary)
      } finally {
        turns.stopTiming(startedAt)
      }
    })
    this.#updatePause()
  }

  /** Holds back further messages until every holder has called `release`. */
  hold(): void {
    this.#holds++
    this.#updatePause()
  }

  release(): void {
    if (--this.#holds > 0) return
    this.#bytesOnHold = 0
    // Deferred, because the caller of `release` may be in the middle of an operation.
    if (this.hasWaiting && !this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#host.turns.schedule(this)
      })
    }
    this.#updatePause()
  }

  /** Ignores further messages and reads the socket to its end. Messages that arrived before are still delivered. */
  stop(): void {
    this.#isStopped = true
    this.#updatePause()
  }

  /** The client is gone: lifts all holds, delivers everything that it sent, then runs `work`. */
  finish(work: () => void): void {
    this.#isStopped = true
    this.#isFinishing = true
    this.#add(0, work)
  }

  #add(bytes: number, deliver: () => void): void {
    const { turns } = this.#host
    const message = { bytes: bytes + messageOverheadBytes, deliver }
    if (this.#mayDeliver) return turns.runNow(() => this.#deliver(message))
    this.#queue.push(message)
    this.#queuedBytes += message.bytes
    this.#updatePause()
    if (this.#isReady) turns.schedule(this)
  }

  run(deadline: number): boolean {
    while (this.hasWaiting && this.#isReady) {
      const message = this.#queue.shift() as QueuedMessage
      this.#queuedBytes -= message.bytes
      this.#deliver(message)
      if (performance.now() >= deadline) break
    }
    this.#updatePause()
    return this.hasWaiting && this.#isReady
  }

  #deliver({ bytes, deliver }: QueuedMessage): void {
    if (this.#holds > 0) this.#bytesOnHold += bytes
    deliver()
  }

  /** Whether a message that arrives now can be delivered immediately. */
  get #mayDeliver(): boolean {
    return this.#queue.length === 0 && this.#host.turns.hasTime && this.#isReady
  }

  get #isReady(): boolean {
    return this.#holds === 0 || this.#bytesOnHold < maxBytesOnHold || this.#isFinishing
  }

  get #mustPause(): boolean {
    if (this.#isStopped) return false
    const isUnidentified = this.#holds > 0 && !this.#host.isIdentified
    return !this.#isStarted || isUnidentified || this.#queuedBytes > maxQueuedBytes
  }

  #updatePause(): void {
    if (this.#mustPause === this.#isPaused) return
    this.#isPaused = !this.#isPaused
    if (this.#isPaused) this.#ws.pause()
    else this.#ws.resume()
  }
}
