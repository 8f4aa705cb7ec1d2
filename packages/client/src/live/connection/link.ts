import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, closeCodes, type ServerMessage } from '@plenum/protocol/realtime'
import { connectionError, noConnection, serverSilent } from '../explain.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { Retry } from '../../platform/retry.ts'
import { type Ending, isFinal, isOfServer, type Status, statusAfter } from '../status.ts'
import { Token, type TokenSource } from './token.ts'
import { faultOfToken } from './token-check.ts'
import { isOpen, type Socket } from './web-socket.ts'

/** From the first byte until the server knows the user. */
const handshakeMs = 10_000
/** A server that asks for more has a fault. */
const longestMoveMs = 300_000
/** One or two are lost while a server restarts or a network changes. */
const attemptsBeforeWarning = 3

export interface LinkOptions {
  address: string
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
  /** It has ended, or there is no token. `isMistake`: the application must be changed or configured differently. */
  error(error: ApiError, isMistake: boolean): void
  /** The connection was lost or not made, and is tried again. `isLasting`: true once, after several failed attempts. */
  attemptFailed(error: ApiError, isLasting: boolean): void
}

/** One socket after the other: authenticates, watches and replaces it. */
export class Link {
  status: Status = 'connecting'
  ended: Ending | undefined
  /** Explains `ended`. */
  failure: ApiError | undefined
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
  /** Attempts in a row that no Plenum server answered. */
  #unanswered = 0
  /** The last token that was sent. */
  #sentToken: string | undefined

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
      if (attempt === this.#attempts) this.#useToken(token)
    } catch (error) {
      if (attempt !== this.#attempts) return
      this.#on.error(error as ApiError, false)
      this.#retry.later()
    }
  }

  #useToken(token: unknown): void {
    const fault = faultOfToken(token)
    if (fault === undefined) return this.#open(token as string)
    const error = new ApiError('UNAUTHENTICATED', fault)
    if (!this.#token.isRenewable) {
      return this.#end({ code: closeCodes.unauthenticated, reason: fault }, error, true)
    }
    this.#token.forget()
    this.#retry.later()
    this.#on.error(error, true)
  }

  #open(token: string): void {
    const socket = this.#create()
    if (!socket) return
    this.#socket = socket
    this.#handshake = setTimeout(
      () => this.#abandon(`no greeting within ${handshakeMs / 1000} seconds`),
      handshakeMs,
    )
    socket.binaryType = 'arraybuffer'
    const isCurrent = () => this.#socket === socket
    let fault: string | undefined
    socket.addEventListener('open', () => {
      if (isCurrent()) this.#authenticate(token, socket)
    })
    socket.addEventListener('message', ({ data }) => {
      if (isCurrent()) this.#receive(data)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (isCurrent()) this.#closed({ code, reason }, fault)
    })
    // A close follows. Without a listener, `ws` would throw. Browsers do not say what is wrong.
    socket.addEventListener('error', (event) => (fault = (event as ErrorEvent).message))
  }

  #authenticate(token: string, socket: Socket | undefined): void {
    this.#sentToken = token
    socket?.send(JSON.stringify({ type: 'auth', token } satisfies ClientMessage))
  }

  #create(): Socket | undefined {
    try {
      return this.#options.openSocket()
    } catch (cause) {
      // Not allowed from this page, and never will be.
      const reason = String(cause)
      const message = `The browser refuses to connect to ${this.#options.address}: ${reason} A page that was loaded over https:// needs a url with https://.`
      const error = new ApiError('FAILED_PRECONDITION', message, { cause })
      this.#end({ code: closeCodes.badMessage, reason }, error, true)
    }
  }

  #receive(data: unknown): void {
    this.#heartbeat?.heard()
    if (typeof data !== 'string') {
      if (this.#isReady && !this.#on.frame(new Uint8Array(data as ArrayBuffer))) this.#abandon(notPlenum)
      return
    }
    const message = parse(data)
    if (!message) return this.#abandon(notPlenum)
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
    this.#unanswered = 0
    this.userId = userId
    this.#retry.succeeded()
    this.#heartbeat = startHeartbeat(
      () => this.send({ type: 'ping' }),
      () => this.#abandon('the server stopped answering'),
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
      const fault = faultOfToken(token)
      // The server ends the connection when the token does; a new one is asked for then.
      if (fault !== undefined) this.#on.error(new ApiError('UNAUTHENTICATED', fault), true)
      else if (this.#socket === socket) this.#authenticate(token as string, socket)
    } catch (error) {
      this.#on.error(error as ApiError, false)
    }
  }

  /** The socket is dead, silent or talks nonsense. */
  #abandon(why: string): void {
    const wasReady = this.#isReady
    this.#socket?.terminate?.()
    this.#release()
    this.#recover(why, wasReady)
  }

  /** `fault`: what the WebSocket class says about it. */
  #closed(ending: Ending, fault?: string): void {
    const { code, reason } = ending
    const use = { token: this.#sentToken, isRenewable: this.#token.isRenewable }
    const wasReady = this.#isReady
    this.#release()
    if (code === closeCodes.unauthenticated && use.isRenewable && !this.#renewed) {
      this.#renewed = true
      this.#token.forget()
      this.#on.attemptFailed(connectionError(ending, use), false)
      this.#change('reconnecting')
      return this.#retry.now()
    }
    if (!isFinal(ending)) {
      const why = reason || fault || `code ${code}`
      return this.#recover(why, wasReady, isOfServer(ending))
    }
    this.#end(ending, connectionError(ending, use), code === closeCodes.permissionDenied)
  }

  /** `isAnswer`: a Plenum server said why. */
  #recover(why: string, wasReady: boolean, isAnswer = false): void {
    const { address } = this.#options
    if (isAnswer) this.#unanswered = 0
    else if (!wasReady) this.#unanswered++
    const error =
      this.#unanswered < attemptsBeforeWarning
        ? noConnection(address, why, wasReady)
        : serverSilent(address, this.#unanswered)
    this.#on.attemptFailed(error, this.#unanswered === attemptsBeforeWarning)
    if (this.status === 'connected') this.#change('reconnecting')
    this.#retry.later()
  }

  #end(ending: Ending, error: ApiError, isMistake: boolean): void {
    this.#retry.cancel()
    this.#change(statusAfter(ending), ending, error)
    this.#on.error(error, isMistake)
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

  #change(status: Status, ended?: Ending, failure?: ApiError): void {
    if (status === 'reconnecting' && this.userId === undefined) status = 'connecting'
    this.ended = ended
    this.failure = failure
    if (this.status === status) return
    this.status = status
    this.#on.statusChanged()
  }
}

const notPlenum = 'the answer is not one of a Plenum server'

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
