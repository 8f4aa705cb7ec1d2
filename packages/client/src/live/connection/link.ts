import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, closeCodes, type ServerMessage } from '@plenum/protocol/realtime'
import { Retry } from '../../platform/retry.ts'
import { type Ending, isFinal, isFromServer, type Status, statusAfter } from '../status.ts'
import { attemptError, connectionError, noAnswerError, offlineError } from './connection-errors.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { Token, type TokenSource } from './token.ts'
import { findTokenFault } from './token-check.ts'
import { isOpen, type Socket } from './web-socket.ts'

/** Limits the time from the creation of the socket until the server has accepted the token. */
const readyTimeoutMs = 10_000
/** Upper bound for the delay in a `moved` message of the server. */
const maxMoveDelayMs = 300_000
/** One or two attempts fail whenever a server restarts or a network changes, so only the third is worth a warning. */
const attemptsBeforeWarning = 3

interface LinkOptions {
  address: string
  token: TokenSource
  createSocket: () => Socket
}

interface LinkHandlers {
  /** The server has accepted the token. From now on messages can be sent. */
  onReady(): void
  /** The link is not ready any more. Messages without an answer may be lost. */
  onLost(): void
  onStatusChange(): void
  onMessage(message: ServerMessage): void
  /** Returns false if the bytes are not a frame. */
  onFrame(bytes: Uint8Array): boolean
  /**
   * The link has ended, or there is no usable token. `needsDeveloper`: the application must be changed or configured
   * differently.
   */
  onError(error: ApiError, needsDeveloper: boolean): void
  /**
   * An attempt failed, or the connection was lost. A retry follows. `needsWarning`: true for the third attempt in a row that
   * got no answer.
   */
  onAttemptFailed(error: ApiError, needsWarning: boolean): void
}

type LinkPhase =
  /** There is no socket. Nothing was opened yet, or a retry is scheduled. */
  | { name: 'idle' }
  | { name: 'fetchingToken' }
  /** The socket is opening, or the server has not accepted the token yet. */
  | { name: 'authenticating'; socket: Socket; token: string; timeout: ReturnType<typeof setTimeout> }
  | { name: 'ready'; socket: Socket; token: string; heartbeat: Heartbeat }
  /** The connection ended for good: the server ended it, the token cannot be used, or the page may not connect. */
  | { name: 'ended'; ending: Ending; error: ApiError }
  | { name: 'closed' }

const idle: LinkPhase = { name: 'idle' }

/** Keeps one socket to the server: authenticates it, checks that it is alive, and replaces it when it is lost. */
export class Link {
  /** The status that was reported last. */
  status: Status = 'connecting'
  /** Undefined until the server has accepted a token for the first time. */
  userId: string | undefined
  #phase: LinkPhase = idle
  readonly #options: LinkOptions
  readonly #handlers: LinkHandlers
  readonly #token: Token
  readonly #retry = new Retry(() => void this.#attempt())
  /** Set when a refused token is replaced. Cleared when a connection that lasted 10 s ends, and by `reconnect`. */
  #hasReplacedToken = false
  /** The browser has said that it has no network. */
  #isOffline = false
  /** Consecutive attempts without an answer from a Plenum server. */
  #unansweredAttempts = 0

  constructor(options: LinkOptions, handlers: LinkHandlers) {
    this.#options = options
    this.#handlers = handlers
    this.#token = new Token(options.token)
  }

  get isReady(): boolean {
    return this.#phase.name === 'ready' && isOpen(this.#phase.socket)
  }

  get ended(): Ending | undefined {
    return this.#phase.name === 'ended' ? this.#phase.ending : undefined
  }

  /** Explains `ended`. */
  get failure(): ApiError | undefined {
    return this.#phase.name === 'ended' ? this.#phase.error : undefined
  }

  /** Connects without delay, also after `denied` and `failed`. */
  reconnect(): void {
    if (this.#phase.name === 'ended') {
      this.#token.drop()
      this.#hasReplacedToken = false
      this.#enter(idle)
    }
    this.wake()
  }

  /** Probes the connection if it is ready. Otherwise connects without delay, unless it is connecting or has ended. */
  wake(): void {
    this.#isOffline = false
    const phase = this.#phase
    if (phase.name === 'ready') phase.heartbeat.probe()
    else if (phase.name === 'idle' || phase.name === 'fetchingToken') this.#retry.runNow()
  }

  /**
   * The browser says that it has no network. Attempts go on, because it may be wrong: a server on the same machine, for example,
   * can still be reached.
   */
  onOffline(): void {
    this.#isOffline = true
    if (this.#phase.name === 'ready' || this.#phase.name === 'authenticating') this.#abandon('offline')
  }

  send(message: ClientMessage): void {
    if (this.isReady) this.#socket?.send(JSON.stringify(message))
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.isReady) this.#socket?.send(bytes)
  }

  /** Ends the connection because of a message of the server. The server itself leaves the socket open. */
  end(ending: Ending): void {
    this.#onSocketClosed(ending)
  }

  close(): void {
    this.#retry.cancel()
    this.#release()
    this.#enter({ name: 'closed' })
  }

  async #attempt(): Promise<void> {
    this.#release()
    if (this.#isClosed) return
    const attempt: LinkPhase = { name: 'fetchingToken' }
    this.#enter(attempt)
    // A listener may have closed the link or begun another attempt, now or while the token is fetched.
    const isCurrent = () => this.#phase === attempt
    if (!isCurrent()) return
    try {
      const token = await this.#token.get()
      if (isCurrent()) this.#useToken(token)
    } catch (error) {
      if (!isCurrent()) return
      this.#enter(idle)
      this.#handlers.onError(error as ApiError, false)
      this.#scheduleRetry()
    }
  }

  /** Schedules a retry, unless a listener that was called meanwhile has closed the link or begun another attempt. */
  #scheduleRetry(): void {
    if (this.#phase === idle) this.#retry.schedule()
  }

  get #isClosed(): boolean {
    return this.#phase.name === 'closed'
  }

  #useToken(token: unknown): void {
    const fault = findTokenFault(token)
    if (fault === undefined) return this.#open(token as string)
    const error = new ApiError('UNAUTHENTICATED', fault)
    if (!this.#token.isRenewable) {
      return this.#fail({ code: closeCodes.unauthenticated, reason: fault }, error, true)
    }
    this.#token.drop()
    this.#enter(idle)
    this.#scheduleRetry()
    this.#handlers.onError(error, true)
  }

  #open(token: string): void {
    const socket = this.#createSocket()
    if (!socket) return
    const timeout = setTimeout(
      () => this.#abandon(`not ready within ${readyTimeoutMs / 1000} seconds`),
      readyTimeoutMs,
    )
    this.#enter({ name: 'authenticating', socket, token, timeout })
    socket.binaryType = 'arraybuffer'
    const isCurrent = () => this.#socket === socket
    let socketError: string | undefined
    socket.addEventListener('open', () => {
      if (isCurrent()) sendToken(socket, token)
    })
    socket.addEventListener('message', ({ data }) => {
      if (isCurrent()) this.#receive(data)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (isCurrent()) this.#onSocketClosed({ code, reason }, socketError)
    })
    // A close event follows. Without this listener `ws` would throw. Browsers give no message here.
    socket.addEventListener('error', (event) => (socketError = (event as ErrorEvent).message))
  }

  get #socket(): Socket | undefined {
    return 'socket' in this.#phase ? this.#phase.socket : undefined
  }

  #createSocket(): Socket | undefined {
    try {
      return this.#options.createSocket()
    } catch (cause) {
      // The page may not connect to this address, and a retry does not change that.
      const reason = String(cause)
      const message = `The browser refuses to connect to ${this.#options.address}: ${reason} A page that was loaded over https:// needs a url with https://.`
      const error = new ApiError('FAILED_PRECONDITION', message, { cause })
      this.#fail({ code: closeCodes.badMessage, reason }, error, true)
    }
  }

  #receive(data: unknown): void {
    const phase = this.#phase
    const isReady = phase.name === 'ready'
    if (isReady) phase.heartbeat.touch()
    if (typeof data !== 'string') {
      if (isReady && !this.#handlers.onFrame(new Uint8Array(data as ArrayBuffer))) this.#abandon(notPlenum)
      return
    }
    const message = parse(data)
    if (!message) return this.#abandon(notPlenum)
    if (message.type === 'ready') this.#onTokenAccepted(message)
    else if (message.type === 'moved') this.#retry.runAfter(Math.min(message.retryAfterMs, maxMoveDelayMs))
    else if (!isReady || message.type === 'pong') return
    else if (message.type === 'tokenExpiring') void this.#renewToken(phase)
    else this.#handlers.onMessage(message)
  }

  /** The server sends `ready` for the first token, and again for each renewed one. */
  #onTokenAccepted({ userId, expiresAt }: ServerMessage & { type: 'ready' }): void {
    this.#token.setExpiry(expiresAt)
    const phase = this.#phase
    if (phase.name !== 'authenticating') return
    clearTimeout(phase.timeout)
    this.#unansweredAttempts = 0
    this.#isOffline = false
    this.userId = userId
    this.#retry.markSuccess()
    const heartbeat = startHeartbeat(
      () => this.send({ type: 'ping' }),
      () => this.#abandon('the server stopped answering'),
    )
    const { socket, token } = phase
    this.#enter({ name: 'ready', socket, token, heartbeat })
    this.#handlers.onReady()
  }

  /** Sends a new token on the open socket. If that fails, the server closes the socket when the old token expires. */
  async #renewToken(phase: LinkPhase & { name: 'ready' }): Promise<void> {
    if (!this.#token.isRenewable) return
    this.#token.drop()
    try {
      const token = await this.#token.get()
      const fault = findTokenFault(token)
      if (fault !== undefined) this.#handlers.onError(new ApiError('UNAUTHENTICATED', fault), true)
      else if (this.#phase === phase) sendToken(phase.socket, (phase.token = token as string))
    } catch (error) {
      this.#handlers.onError(error as ApiError, false)
    }
  }

  /** Gives up a socket that is dead or does not speak the protocol. */
  #abandon(reason: string): void {
    const wasReady = this.#phase.name === 'ready'
    this.#socket?.terminate?.()
    this.#release()
    if (!this.#isClosed) this.#recover(reason, wasReady)
  }

  /** `socketError` is the message of the socket's error event. */
  #onSocketClosed(ending: Ending, socketError?: string): void {
    const { code, reason } = ending
    const phase = this.#phase
    const wasReady = phase.name === 'ready'
    const use = { token: 'token' in phase ? phase.token : undefined, isRenewable: this.#token.isRenewable }
    this.#release()
    if (this.#isClosed) return
    if (code === closeCodes.unauthenticated && use.isRenewable && !this.#hasReplacedToken) {
      this.#hasReplacedToken = true
      this.#token.drop()
      this.#handlers.onAttemptFailed(connectionError(ending, use), false)
      this.#reportStatus()
      if (this.#phase === idle) this.#retry.runNow()
      return
    }
    if (!isFinal(ending)) {
      return this.#recover(reason || socketError || `code ${code}`, wasReady, isFromServer(ending))
    }
    this.#fail(ending, connectionError(ending, use), code === closeCodes.permissionDenied)
  }

  /** Reports the failure and schedules a retry. `isAnswered`: a Plenum server gave the reason. */
  #recover(reason: string, wasReady: boolean, isAnswered = false): void {
    const { address } = this.#options
    if (this.#isOffline) {
      this.#handlers.onAttemptFailed(offlineError(), false)
      this.#reportStatus()
      return this.#scheduleRetry()
    }
    if (isAnswered) this.#unansweredAttempts = 0
    else if (!wasReady) this.#unansweredAttempts++
    const error =
      this.#unansweredAttempts < attemptsBeforeWarning
        ? attemptError(address, reason, wasReady)
        : noAnswerError(address, this.#unansweredAttempts)
    this.#handlers.onAttemptFailed(error, this.#unansweredAttempts === attemptsBeforeWarning)
    this.#reportStatus()
    this.#scheduleRetry()
  }

  #fail(ending: Ending, error: ApiError, needsDeveloper: boolean): void {
    this.#retry.cancel()
    this.#enter({ name: 'ended', ending, error })
    this.#handlers.onError(error, needsDeveloper)
  }

  /**
   * Closes the socket, if there is one. The caller reports the status, because it depends on what the caller does next.
   * Calls listeners, which may close the link.
   */
  #release(): void {
    const phase = this.#phase
    if (!('socket' in phase)) return
    if (phase.name === 'ready') phase.heartbeat.stop()
    else clearTimeout(phase.timeout)
    this.#phase = idle
    phase.socket.close(1000)
    if (phase.name !== 'ready') return
    if (this.#retry.wasSteady) this.#hasReplacedToken = false
    this.#handlers.onLost()
  }

  #enter(phase: LinkPhase): void {
    this.#phase = phase
    this.#reportStatus()
  }

  #reportStatus(): void {
    const status = this.#currentStatus()
    if (this.status === status) return
    this.status = status
    this.#handlers.onStatusChange()
  }

  #currentStatus(): Status {
    const phase = this.#phase
    if (phase.name === 'ready') return 'connected'
    if (phase.name === 'ended') return statusAfter(phase.ending)
    if (phase.name === 'closed') return 'closed'
    return this.userId === undefined ? 'connecting' : 'reconnecting'
  }
}

const notPlenum = 'the answer did not come from a Plenum server'

function sendToken(socket: Socket, token: string): void {
  socket.send(JSON.stringify({ type: 'auth', token } satisfies ClientMessage))
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
