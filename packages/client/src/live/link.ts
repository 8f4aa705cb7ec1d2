import type { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, closeCodes, type ServerMessage } from '@plenum/protocol/realtime'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { Retry } from './retry.ts'
import { type Ending, isFinal, type Status, statusAfter } from './status.ts'
import { Token, type TokenSource } from './token.ts'
import { isOpen, type Socket } from './web-socket.ts'

/** From the first byte until the server knows the user. */
const handshakeMs = 10_000
/** A server that asks for more has a fault. */
const longestMoveMs = 300_000

export interface LinkOptions {
  token: TokenSource
  openSocket: () => Socket
}

export interface LinkHandlers {
  /** The server knows the user: everything may be sent. */
  ready(): void
  /** What was sent and not answered may be lost. */
  lost(): void
  statusChanged(): void
  message(message: ServerMessage): void
  /** False if it is none. */
  frame(bytes: Uint8Array): boolean
  error(error: ApiError): void
}

/** One socket after the other: authenticates, watches and replaces it. */
export class Link {
  status: Status = 'connecting'
  ended: Ending | undefined
  userId: string | undefined
  readonly #options: LinkOptions
  readonly #on: LinkHandlers
  readonly #token: Token
  readonly #retry = new Retry(() => void this.#attempt())
  #socket: Socket | undefined
  #isReady = false
  #heartbeat: Heartbeat | undefined
  #handshake: ReturnType<typeof setTimeout> | undefined
  /** A refused token was replaced, and the new one has not proved good. */
  #renewed = false
  /** Numbers the attempts, so that the late token of an earlier one opens nothing. */
  #attempts = 0

  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#on = handlers
    this.#token = new Token(options.token)
  }

  get isReady(): boolean {
    return this.#isReady && isOpen(this.#socket)
  }

  /** At once; after `denied` and `failed` too. */
  connect(): void {
    if (this.status === 'denied' || this.status === 'failed') {
      this.#token.forget()
      this.#renewed = false
      this.#change('reconnecting')
    }
    this.wake()
  }

  /** The network may be back. */
  wake(): void {
    if (this.#isReady) this.#heartbeat?.probe()
    else if (!this.#socket && !this.#hasEnded) this.#retry.now()
  }

  get #hasEnded(): boolean {
    return this.status === 'denied' || this.status === 'failed' || this.status === 'closed'
  }

  send(message: ClientMessage): void {
    if (this.isReady) this.#socket?.send(JSON.stringify(message))
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.isReady) this.#socket?.send(bytes)
  }

  /** The server says so, though it leaves the socket open. */
  end(ending: Ending): void {
    this.#closed(ending)
  }

  close(): void {
    this.#retry.cancel()
    this.#attempts++
    this.#release()
    this.#change('closed')
  }

  async #attempt(): Promise<void> {
    const attempt = ++this.#attempts
    this.#release()
    if (this.status === 'connected') this.#change('reconnecting')
    try {
      const token = await this.#token.get()
      if (attempt === this.#attempts) this.#open(token)
    } catch (error) {
      if (attempt !== this.#attempts) return
      this.#on.error(error as ApiError)
      this.#retry.later()
    }
  }

  #open(token: string): void {
    const socket = this.#create()
    if (!socket) return
    this.#socket = socket
    this.#handshake = setTimeout(() => this.#abandon(), handshakeMs)
    socket.binaryType = 'arraybuffer'
    const isCurrent = () => this.#socket === socket
    socket.addEventListener('open', () => {
      if (isCurrent()) socket.send(JSON.stringify({ type: 'auth', token } satisfies ClientMessage))
    })
    socket.addEventListener('message', ({ data }) => {
      if (isCurrent()) this.#receive(data)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (isCurrent()) this.#closed({ code, reason })
    })
    // A close follows. Without a listener, `ws` would throw.
    socket.addEventListener('error', () => {})
  }

  #create(): Socket | undefined {
    try {
      return this.#options.openSocket()
    } catch (error) {
      // Not allowed from this page, and never will be.
      this.#change('failed', { code: closeCodes.badMessage, reason: String(error) })
    }
  }

  #receive(data: unknown): void {
    this.#heartbeat?.heard()
    if (typeof data !== 'string') {
      if (this.#isReady && !this.#on.frame(new Uint8Array(data as ArrayBuffer))) this.#abandon()
      return
    }
    const message = parse(data)
    if (!message) return this.#abandon()
    if (message.type === 'ready') this.#welcome(message)
    else if (message.type === 'moved') this.#retry.after(Math.min(message.retryAfterMs, longestMoveMs))
    else if (message.type === 'tokenExpiring') void this.#renew()
    else if (message.type !== 'pong' && this.#isReady) this.#on.message(message)
  }

  /** Comes again after each fresh token. */
  #welcome({ userId, expiresAt }: ServerMessage & { type: 'ready' }): void {
    this.#token.expires(expiresAt)
    if (this.#isReady) return
    clearTimeout(this.#handshake)
    this.#isReady = true
    this.userId = userId
    this.#retry.succeeded()
    this.#heartbeat = startHeartbeat(
      () => this.send({ type: 'ping' }),
      () => this.#abandon(),
    )
    this.#change('connected')
    this.#on.ready()
  }

  async #renew(): Promise<void> {
    if (!this.#token.isRenewable) return
    const socket = this.#socket
    this.#token.forget()
    try {
      const token = await this.#token.get()
      if (this.#socket === socket) this.send({ type: 'auth', token })
    } catch (error) {
      // The server ends the connection when the token does; a new one is asked for then.
      this.#on.error(error as ApiError)
    }
  }

  /** The socket is dead, silent or talks nonsense. */
  #abandon(): void {
    this.#socket?.terminate?.()
    this.#release()
    this.#recover()
  }

  #closed(ending: Ending): void {
    this.#release()
    if (ending.code === closeCodes.unauthenticated && this.#token.isRenewable && !this.#renewed) {
      this.#renewed = true
      this.#token.forget()
      this.#change('reconnecting')
      return this.#retry.now()
    }
    if (!isFinal(ending)) return this.#recover()
    this.#retry.cancel()
    this.#change(statusAfter(ending), ending)
  }

  #recover(): void {
    if (this.status === 'connected') this.#change('reconnecting')
    this.#retry.later()
  }

  #release(): void {
    clearTimeout(this.#handshake)
    this.#heartbeat?.stop()
    this.#heartbeat = undefined
    const socket = this.#socket
    const wasReady = this.#isReady
    this.#socket = undefined
    this.#isReady = false
    socket?.close(1000)
    if (!wasReady) return
    if (this.#retry.wasSteady) this.#renewed = false
    this.#on.lost()
  }

  #change(status: Status, ended?: Ending): void {
    if (status === 'reconnecting' && this.userId === undefined) status = 'connecting'
    this.ended = ended
    if (this.status === status) return
    this.status = status
    this.#on.statusChanged()
  }
}

function parse(data: string): ServerMessage | undefined {
  try {
    const message: unknown = JSON.parse(data)
    return typeof (message as ServerMessage | null)?.type === 'string'
      ? (message as ServerMessage)
      : undefined
  } catch {
    return undefined
  }
}
