import type { ErrorStatus } from '@plenum/protocol'
import { type CloseReason, limits, type ServerMessage } from '@plenum/protocol/realtime'
import type { Clock } from '../../../platform/clock.ts'
import { Backlog } from '../../sockets/backlog.ts'
import type { Connection } from '../../sockets/connection.ts'
import { pingFrame, textFrame } from '../../sockets/frames.ts'
import type { DialectClient, DialectContext } from '../dialect.ts'
import type { RealtimeServices } from '../../editors/realtime-services.ts'
import { Denial, type Identity } from '../../authorization/identity.ts'
import { type ReadMessage, type ReadResult, readMessage, type Subject } from '../../messages/message.ts'
import { maxInlineJsonBytes } from '../../messages/large-json.ts'
import { JsonCalls } from './calls.ts'
import { JsonDocuments } from './documents.ts'
import { handleMessage, type MessageTarget } from './handlers.ts'
import type { JsonHost } from './host.ts'
import { JsonInboxes } from './inboxes.ts'
import { JsonLists } from './lists.ts'

/** How many messages may wait until the first token is checked. */
const maxWaitingMessages = 64
/** A ping updates the presence of its user at most this often. */
const minTouchIntervalMs = 1_000

const frameOf = (message: ServerMessage) => textFrame(JSON.stringify(message))
const pongAndPingFrames = Buffer.concat([frameOf({ type: 'pong' }), pingFrame])

/** Plenum's own protocol: one socket, many documents and editors. */
export class JsonClient implements DialectClient, JsonHost, MessageTarget {
  readonly needsToken = false
  readonly connection: Connection
  readonly services: RealtimeServices
  readonly backlog: Backlog
  readonly clock: Clock
  readonly #context: DialectContext
  readonly documents = new JsonDocuments(this)
  readonly inboxes = new JsonInboxes(this)
  readonly lists = new JsonLists(this)
  readonly calls = new JsonCalls(this, (...answer) => this.lists.onAnswer(...answer))
  #identity: Identity | undefined
  /** Settles when the latest token is checked. Tokens are checked one at a time. */
  #checking: Promise<void> | undefined
  /** Whether a large message is being read in a thread. */
  #isReading = false
  /** Messages that arrived while the first token was checked or a large message was read. */
  readonly #waiting: (() => void)[] = []
  /** Whether the client was warned that its current token expires soon. */
  #isWarned = false
  #touchedAt = -Infinity
  /** The client has disconnected, and all its messages are read. */
  #isClosed = false

  constructor(context: DialectContext) {
    this.#context = context
    this.connection = context.connection
    this.services = context.services
    this.clock = context.clock
    this.backlog = new Backlog(context.connection)
  }

  get identity(): Identity {
    if (!this.#identity) throw new Error('The client is not identified yet.')
    return this.#identity
  }

  get isIdentified(): boolean {
    return this.#identity !== undefined
  }

  get isChecking(): boolean {
    return this.#identity === undefined && this.#checking !== undefined
  }

  onIdentified(identity: Identity): void {
    this.#identity = identity
    this.#sendReady(identity)
  }

  #sendReady({ userId, expiresAt }: Identity): void {
    // The credentials of a backend do not expire, and JSON has no infinity.
    const seconds = Math.min(expiresAt, Number.MAX_SAFE_INTEGER)
    this.send({ type: 'ready', connectionId: this.connection.id, userId, expiresAt: seconds })
  }

  receive(data: Buffer, isBinary: boolean): boolean {
    if (this.#mustWait) {
      this.#waiting.push(() => this.#replay(() => this.receive(data, isBinary)))
      return !this.isChecking || this.#waiting.length <= maxWaitingMessages
    }
    if (isBinary) return this.#identity !== undefined && this.documents.editors.receive(data)
    const maxBytes = this.#identity ? limits.jsonBytes : limits.firstMessageBytes
    if (data.length > maxInlineJsonBytes && data.length <= maxBytes) this.#readLarge(data)
    else this.#receiveResult(readMessage(data, maxBytes), data.length)
    return true
  }

  /** Reads the message in a thread. Messages that arrive meanwhile wait, so that the order is kept. */
  #readLarge(data: Buffer): void {
    this.#isReading = true
    this.connection.hold()
    this.services.largeMessages.read(this.connection, data, (result) => {
      this.#isReading = false
      this.connection.release()
      this.#replay(() => {
        this.#receiveResult(result, data.length)
        return true
      })
      this.#replayWaiting()
    })
  }

  get #mustWait(): boolean {
    return this.isChecking || this.#isReading
  }

  #receiveResult(result: ReadResult | undefined, bytes: number): void {
    if (!result) this.deny('unavailable', 'The message could not be read.')
    else if ('message' in result) this.#receiveMessage(result.message, bytes)
    else if (result.fault === 'unstorable' && this.#identity) {
      this.refuse(result.subject, 'INVALID_ARGUMENT', result.reason)
    } else this.deny('badMessage', result.reason)
  }

  #receiveMessage(message: ReadMessage, bytes: number): void {
    if (this.#identity || message.type === 'auth') return handleMessage(this, message, bytes)
    this.deny('badMessage', 'The first message must be auth.')
  }

  authenticate(token: string): void {
    this.connection.hold()
    this.#checking = (this.#checking ?? Promise.resolve())
      .then(() => this.#context.identify(token))
      .then((identity) => this.#acceptIdentity(identity))
      .catch((error: unknown) => this.#refuseToken(error))
      .finally(() => this.connection.release())
  }

  #acceptIdentity(identity: Identity): void {
    const known = this.#identity
    if (!known) {
      this.onIdentified(identity)
      this.#replayWaiting()
    } else if (known.apiKey !== identity.apiKey || known.userId !== identity.userId) {
      throw new Denial('unauthenticated', 'token_invalid: The token is that of another user.')
    } else {
      this.#identity = identity
      this.#isWarned = false
      this.documents.renew(identity)
      this.#sendReady(identity)
      this.lists.renew()
    }
  }

  #replayWaiting(): void {
    while (!this.#mustWait && this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  #replay(receive: () => boolean): void {
    try {
      if (this.#isClosed || !this.connection.acceptsMessages || receive()) return
    } catch {
      // An error is denied like a message that is not part of the protocol.
    }
    this.deny('badMessage', 'The message is malformed.')
  }

  /**
   * Refuses the client if its first token is refused. If a later token is refused, the client stays until its last accepted
   * token expires.
   */
  #refuseToken(error: unknown): void {
    const { reason, message } =
      error instanceof Denial ? error : new Denial('unavailable', 'The token could not be checked.')
    if (!this.#identity) this.deny(reason, message)
    else this.refuse({}, statusOf[reason] ?? 'UNAVAILABLE', message)
  }

  refuse(subject: Subject, status: ErrorStatus, message: string, details?: unknown): void {
    this.send({ type: 'error', ...subject, status, message, ...(details !== undefined && { details }) })
  }

  ping(): void {
    this.send({ type: 'pong' })
    const now = this.clock.elapsed()
    if (now - this.#touchedAt < minTouchIntervalMs) return
    this.#touchedAt = now
    this.documents.touch()
  }

  send(message: ServerMessage): void {
    this.connection.send(frameOf(message))
  }

  /** Sends the warning once, not for each document. */
  onTokenExpiring(): void {
    if (this.#isWarned || !this.#identity) return
    this.#isWarned = true
    this.send({ type: 'tokenExpiring', expiresAt: this.#identity.expiresAt })
  }

  /** Clients of this protocol send pings. Answers in advance if a ping may wait behind a document that loads. */
  get pingFrames(): Buffer {
    const mayWait = this.connection.inbox.hasWaiting || this.#waiting.length > 0
    return mayWait ? pongAndPingFrames : pingFrame
  }

  deny(reason: CloseReason, message: string): void {
    this.connection.close(reason, message)
  }

  onDrain(retryAfterMs: number): void {
    this.send({ type: 'moved', retryAfterMs })
  }

  onDisconnected(): void {
    if (this.#isReading) {
      this.#waiting.push(() => this.onDisconnected())
      return
    }
    this.#isClosed = true
    this.documents.closeAll()
    this.calls.closeAll()
    this.inboxes.closeAll()
    this.lists.closeAll()
  }
}

const statusOf: Partial<Record<CloseReason, ErrorStatus>> = {
  unauthenticated: 'UNAUTHENTICATED',
  permissionDenied: 'PERMISSION_DENIED',
}
