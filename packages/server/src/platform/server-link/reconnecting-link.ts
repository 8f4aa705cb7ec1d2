import { type Clock, type StopTimer, systemClock } from '../clock.ts'
import { FrameReader, FrameWriter, isProbe, maxMessageBytes, readFrame } from './frames.ts'
import type { ServerLink, ServerLinkListener } from './server-link.ts'

/** A service that passes frames to all servers, including the one that sends them, or to some. */
export interface Transport {
  readonly name: string
  readonly carriesData: boolean
  readonly maxFrameBytes: number
  /** Begins to connect. Calls the events later, not within this call. */
  open(ownId: string, events: TransportEvents): TransportConnection
}

export interface TransportEvents {
  /** Frames can be sent, and are received. */
  onOpen(): void
  onFrame(frame: Buffer): void
  onLost(error: Error): void
}

export interface TransportConnection {
  /** The size of the frames that are not on their way yet. */
  readonly waitingBytes: number
  /** Sends the frames of one message to the servers with these ids. Default: to all. */
  send(frames: readonly Buffer[], to?: readonly string[]): void
  /** Resolves when the frames that were sent are on their way and the connection is closed. */
  close(): Promise<void>
  /** Closes the connection at once, also one that does not answer. */
  destroy(): void
}

export interface LinkTiming {
  probeEveryMs: number
  /** The connection is replaced if a probe takes longer, and also if it takes longer to connect. */
  probeTimeoutMs: number
  minRetryMs: number
  maxRetryMs: number
}

const defaultTiming: LinkTiming = {
  probeEveryMs: 10_000,
  probeTimeoutMs: 5_000,
  minRetryMs: 100,
  maxRetryMs: 5_000,
}
/** Messages are dropped while more bytes wait. */
const maxWaitingBytes = 2 * maxMessageBytes
/** How long a stop waits for the messages that were sent. */
const maxStopMs = 1_000
/** Every server sends probes, so one that was silent for this many of them is gone. */
const maxMissedProbes = 4

/**
 * A link that is connected while what it sends comes back to it. The link sends a probe now and then: a connection that was
 * lost without an error, or a proxy that does not pass frames on, keeps the probe from coming back.
 */
export class ReconnectingLink implements ServerLink {
  readonly name: string
  readonly carriesData: boolean
  isConnected = false
  delayMs: number | undefined
  droppedMessages = 0
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #timing: LinkTiming
  #writer = new FrameWriter('', 0)
  readonly #reader = new FrameReader()
  #listener: ServerLinkListener | undefined
  #connection: TransportConnection | undefined
  #probe = { number: 0, sentAt: 0 }
  /** The link waits for one thing at a time: a connection, a probe, the next probe, or the next attempt to connect. */
  #stopTimer: StopTimer = () => {}
  #failedAttempts = 0
  /** Whether the listener knows that the link was connected, or could not be. */
  #isReported = false

  constructor(transport: Transport, { clock = systemClock, timing = {} }: LinkOptions = {}) {
    this.name = transport.name
    this.carriesData = transport.carriesData
    this.#transport = transport
    this.#clock = clock
    this.#timing = { ...defaultTiming, ...timing }
  }

  start(ownId: string, listener: ServerLinkListener): void {
    this.#writer = new FrameWriter(ownId, this.#transport.maxFrameBytes)
    this.#listener = listener
    this.#connect()
  }

  send(message: Uint8Array, to?: readonly string[]): void {
    const connection = this.isConnected ? this.#connection : undefined
    if (!connection || connection.waitingBytes > maxWaitingBytes || message.length > maxMessageBytes) {
      this.droppedMessages += 1
      return
    }
    connection.send(this.#writer.framesOf(message), to)
  }

  async stop(): Promise<void> {
    this.#stopTimer()
    const connection = this.#connection
    const wasConnected = this.isConnected
    this.#connection = undefined
    this.#listener = undefined
    this.isConnected = false
    if (!connection) return
    if (wasConnected) {
      const timeout = new Promise<void>((resolve) => this.#wait(maxStopMs, resolve))
      await Promise.race([connection.close().catch(() => {}), timeout])
      this.#stopTimer()
    }
    connection.destroy()
  }

  #connect(): void {
    const connection = this.#transport.open(this.#writer.sender, {
      onOpen: () => {
        if (this.#connection === connection) this.#sendProbe()
      },
      onFrame: (frame) => {
        if (this.#connection === connection) this.#receive(frame)
      },
      onLost: (error) => {
        if (this.#connection === connection) this.#onLost(reasonOf(error))
      },
    })
    this.#connection = connection
    this.#waitForAnswer()
  }

  #sendProbe(): void {
    const now = this.#clock.elapsed()
    this.#reader.dropBefore(now - maxMissedProbes * this.#timing.probeEveryMs)
    const frame = this.#writer.probe()
    this.#probe = { number: this.#writer.lastNumber, sentAt: now }
    this.#connection?.send([frame])
    this.#waitForAnswer()
  }

  #receive(bytes: Buffer): void {
    const frame = readFrame(bytes)
    if (!frame) return
    const isOwn = frame.sender === this.#writer.sender
    if (isOwn && isProbe(frame) && frame.number === this.#probe.number) this.#onProbeReturned()
    if (isOwn || !this.isConnected) return
    const message = this.#reader.read(frame, this.#clock.elapsed())
    if (message) this.#listener?.onMessage(message, frame.sender)
  }

  #onProbeReturned(): void {
    this.delayMs = this.#clock.elapsed() - this.#probe.sentAt
    this.#wait(this.#timing.probeEveryMs, () => this.#sendProbe())
    if (this.isConnected) return
    this.isConnected = true
    this.#failedAttempts = 0
    this.#isReported = true
    this.#listener?.onConnected()
  }

  #onLost(reason: string): void {
    this.#connection?.destroy()
    this.#connection = undefined
    const wasConnected = this.isConnected
    this.isConnected = false
    this.delayMs = undefined
    const { minRetryMs, maxRetryMs } = this.#timing
    const waitMs = Math.min(maxRetryMs, minRetryMs * 2 ** this.#failedAttempts)
    this.#failedAttempts += 1
    // Random, so that the servers do not all come back at the same time.
    this.#wait(waitMs * (0.5 + Math.random() / 2), () => this.#connect())
    if (wasConnected) this.#listener?.onDisconnected(reason)
    else if (!this.#isReported) this.#listener?.onUnreachable(reason)
    this.#isReported = true
  }

  #waitForAnswer(): void {
    const { probeTimeoutMs } = this.#timing
    this.#wait(probeTimeoutMs, () => this.#onLost(`no answer within ${probeTimeoutMs} ms`))
  }

  #wait(ms: number, run: () => void): void {
    this.#stopTimer()
    this.#stopTimer = this.#clock.setTimeout(run, ms)
  }
}

export interface LinkOptions {
  clock?: Clock | undefined
  timing?: Partial<LinkTiming> | undefined
}

/** Only the message: errors of clients may have the password among their fields. */
const reasonOf = ({ message, name }: Error) => message || name
