import type { ErrorStatus } from '@plenum/protocol'
import { closeCodes, type CloseReason, limits, type ServerMessage } from '@plenum/protocol/realtime'
import { Backlog } from '../../sockets/backlog.ts'
import type { Connection } from '../../sockets/connection.ts'
import { textFrame } from '../../sockets/frames.ts'
import type { Arrival, DialectClient } from '../../gateway.ts'
import type { Hub } from '../../editors/services.ts'
import { Denial, type Identity } from '../../authorization/identify.ts'
import { type Reading, type ReadMessage, tryReadMessage } from '../../messages/message.ts'
import { maxInlineJsonBytes } from '../../messages/large-json.ts'
import { idPattern, isId } from '../../documents/place.ts'
import { type DocumentHost, JsonDocument } from './document.ts'
import { JsonEditors } from './editors.ts'

type Message<Type extends ReadMessage['type']> = Extract<ReadMessage, { type: Type }>

/** What an error is about. */
interface Subject {
  id?: number
  ref?: number
  channel?: number
}

/** Of one connection. */
const mostDocuments = 1_000
/** Messages that wait until the token is checked. */
const mostWaiting = 64
/** Pings within this say nothing new of the user. */
const pingMs = 1_000

/** Plenum's own protocol: one socket, many documents and editors. */
export class JsonClient implements DialectClient, DocumentHost {
  readonly needsToken = false
  readonly connection: Connection
  readonly hub: Hub
  readonly backlog: Backlog
  readonly #identify: Arrival['identify']
  readonly #documents = new Map<number, JsonDocument>()
  /** Closed by the client; what it sent before is still being looked at. */
  readonly #finishing = new Set<JsonDocument>()
  readonly #editors = new JsonEditors(this)
  #identity: Identity | undefined
  /** Tokens are checked one after the other. */
  #checking: Promise<void> | undefined
  /** A large message is being read in a thread. */
  #isReading = false
  /** What came while the first token was checked or a message was read. */
  readonly #waiting: (() => void)[] = []
  #wasWarned = false
  #pingedAt = -Infinity
  /** The client is gone, and everything that it sent has been read. */
  #isClosed = false

  constructor({ connection, hub, identify }: Arrival) {
    this.connection = connection
    this.hub = hub
    this.backlog = new Backlog(connection)
    this.#identify = identify
  }

  get isIdentified(): boolean {
    return this.#identity !== undefined
  }

  get isChecking(): boolean {
    return this.#identity === undefined && this.#checking !== undefined
  }

  enter(identity: Identity): void {
    this.#identity = identity
    this.#welcome(identity)
  }

  #welcome({ userId, expiresAt }: Identity): void {
    // JSON has no infinity; the credentials of a backend do not end.
    const seconds = Math.min(expiresAt, Number.MAX_SAFE_INTEGER)
    this.send({ type: 'ready', connectionId: this.connection.id, userId, expiresAt: seconds })
  }

  receive(data: Buffer, isBinary: boolean): boolean {
    if (this.#mustWait) {
      this.#waiting.push(() => this.#replay(() => this.receive(data, isBinary)))
      return !this.isChecking || this.#waiting.length <= mostWaiting
    }
    if (isBinary) return this.#identity !== undefined && this.#editors.receive(data)
    const maxBytes = this.#identity ? limits.jsonBytes : limits.firstMessageBytes
    if (data.length > maxInlineJsonBytes && data.length <= maxBytes) this.#readLarge(data)
    else this.#receiveReading(tryReadMessage(data, maxBytes), data.length)
    return true
  }

  /** In a thread. Messages that come meanwhile wait, so that their order stays. */
  #readLarge(data: Buffer): void {
    this.#isReading = true
    this.connection.hold()
    this.hub.largeMessages.read(this.connection, data, (reading) => {
      this.#isReading = false
      this.connection.release()
      this.#replay(() => {
        this.#receiveReading(reading, data.length)
        return true
      })
      this.#replayWaiting()
    })
  }

  get #mustWait(): boolean {
    return this.isChecking || this.#isReading
  }

  #receiveReading(reading: Reading | undefined, bytes: number): void {
    if (!reading) this.deny('unavailable', 'The message could not be read.')
    else if ('message' in reading) this.#receiveMessage(reading.message, bytes)
    else if (reading.fault === 'unstorable' && this.#identity) {
      this.#refuse(reading.subject, 'INVALID_ARGUMENT', reading.reason)
    } else this.deny('badMessage', reading.reason)
  }

  #receiveMessage(message: ReadMessage, bytes: number): void {
    if (message.type === 'auth') return this.#authenticate(message.token)
    if (!this.#identity) return this.deny('badMessage', 'The first message must be auth.')
    switch (message.type) {
      case 'open':
        return this.#open(message, this.#identity)
      case 'close':
        return this.#close(message.ref)
      case 'setPresence':
        return this.#documentOf(message)?.setPresence(message)
      case 'setLiveState':
        return this.#documentOf(message)?.setLiveState(message, bytes)
      case 'openEditor':
        return this.#editors.open(message, () => this.#documentOf(message))
      case 'closeEditor':
        return this.#editors.close(message.channel)
      case 'listVersions':
      case 'addVersion':
      case 'restoreVersion':
        return this.#editors.requestVersions(message, bytes)
      case 'ping':
        return this.#ping()
    }
  }

  #authenticate(token: string): void {
    this.connection.hold()
    this.#checking = (this.#checking ?? Promise.resolve())
      .then(() => this.#identify(token))
      .then((identity) => this.#identified(identity))
      .catch((error: unknown) => this.#notIdentified(error))
      .finally(() => this.connection.release())
  }

  #identified(identity: Identity): void {
    const known = this.#identity
    if (!known) {
      this.enter(identity)
      this.#replayWaiting()
    } else if (known.apiKey !== identity.apiKey || known.userId !== identity.userId) {
      throw new Denial('unauthenticated', 'token_invalid: The token is that of another user.')
    } else {
      this.#identity = identity
      this.#wasWarned = false
      for (const { participant } of this.#documents.values()) participant.renew(identity)
      this.#welcome(identity)
    }
  }

  #replayWaiting(): void {
    while (!this.#mustWait && this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  #replay(receive: () => boolean): void {
    try {
      if (this.#isClosed || !this.connection.takesMessages || receive()) return
    } catch {
      // As malformed as what is no message.
    }
    this.deny('badMessage', 'The message is malformed.')
  }

  /** A later token that is refused takes nothing away: the one before counts as long as it lasts. */
  #notIdentified(error: unknown): void {
    const { reason, message } =
      error instanceof Denial ? error : new Denial('unavailable', 'The token could not be checked.')
    if (!this.#identity) this.deny(reason, message)
    else this.#refuse({}, statusOf[reason] ?? 'UNAVAILABLE', message)
  }

  #refuse(of: Subject, status: ErrorStatus, message: string): void {
    this.send({ type: 'error', ...of, status, message })
  }

  #documentOf({ ref, id, channel }: Subject & { ref: number }): JsonDocument | undefined {
    const document = this.#documents.get(ref)
    if (!document) this.#refuse({ ref, id, channel }, 'NOT_FOUND', 'No document is open under this ref.')
    return document
  }

  #open(message: Message<'open'>, identity: Identity): void {
    const { ref, organizationId, documentId } = message
    if (this.#documents.has(ref)) {
      return this.#refuse({ ref }, 'ALREADY_EXISTS', 'A document is open under this ref.')
    }
    for (const { ref: other, place } of this.#documents.values()) {
      if (place.organizationId !== organizationId || place.documentId !== documentId) continue
      // Everything that happens in a document would be sent once more for each ref.
      const message = `The document is already open on this connection, under ref ${other}.`
      return this.#refuse({ ref }, 'ALREADY_EXISTS', message)
    }
    const refuse = (reason: CloseReason, text: string) =>
      this.send({ type: 'closed', ref, code: closeCodes[reason], reason: text })
    if (!isId(organizationId)) return refuse('badMessage', `organizationId ${idPattern}`)
    if (!isId(documentId)) return refuse('badMessage', `documentId ${idPattern}`)
    if (Math.max(this.#documents.size, this.#finishing.size) >= mostDocuments) {
      return refuse('tooMany', `A connection has at most ${mostDocuments} documents open.`)
    }
    this.#documents.set(ref, new JsonDocument(this, identity, message))
  }

  /** The ref is free at once; what was sent before still counts. */
  #close(ref: number): void {
    const document = this.#documents.get(ref)
    if (!document) return
    this.#documents.delete(ref)
    this.#finishing.add(document)
    document.finish(() => void this.#editors.closeAllOf(document).then(() => this.#leave(document)))
  }

  #leave(document: JsonDocument): void {
    this.#finishing.delete(document)
    this.#editors.dropAllOf(document)
    document.leave()
  }

  mayWrite(document: JsonDocument): void {
    this.#editors.mayWrite(document)
  }

  ended(document: JsonDocument, reason: CloseReason, message: string): void {
    const { ref } = document
    const isKnown = this.#documents.get(ref) === document
    if (isKnown) this.#documents.delete(ref)
    this.#leave(document)
    if (isKnown) this.send({ type: 'closed', ref, code: closeCodes[reason], reason: message })
  }

  #ping(): void {
    this.send({ type: 'pong' })
    const now = performance.now()
    if (now - this.#pingedAt < pingMs) return
    this.#pingedAt = now
    for (const { participant } of this.#documents.values()) participant.document.heard(participant)
  }

  send(message: ServerMessage): void {
    this.connection.send(textFrame(JSON.stringify(message)))
  }

  /** Once for all documents. */
  expiring(): void {
    if (this.#wasWarned || !this.#identity) return
    this.#wasWarned = true
    this.send({ type: 'tokenExpiring', expiresAt: this.#identity.expiresAt })
  }

  /** Clients ping when they want to know; what they send may wait behind a document that loads. */
  keepAlive(): void {
    if (this.connection.inbox.hasWaiting || this.#waiting.length > 0) this.send({ type: 'pong' })
  }

  deny(reason: CloseReason, message: string): void {
    this.connection.close(reason, message)
  }

  move(retryAfterMs: number): void {
    this.send({ type: 'moved', retryAfterMs })
  }

  closed(): void {
    if (this.#isReading) {
      this.#waiting.push(() => this.closed())
      return
    }
    this.#isClosed = true
    for (const ref of this.#documents.keys()) this.#close(ref)
  }
}

const statusOf: Partial<Record<CloseReason, ErrorStatus>> = {
  unauthenticated: 'UNAUTHENTICATED',
  permissionDenied: 'PERMISSION_DENIED',
}
