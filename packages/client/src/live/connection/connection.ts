import { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
import {
  type ClientMessage,
  closeCodes,
  type OnlineStatus,
  type ServerMessage,
} from '@plenum/protocol/realtime'
import { type Activity, type IdleTimes, watchActivity } from '../presence/activity.ts'
import { checkId } from '../checks.ts'
import type { LiveDocumentOptions, LiveDocument } from '../document/document.ts'
import { type DocumentHost, DocumentSession } from '../document/document-session.ts'
import type { EditorSession } from '../editor/editor-session.ts'
import { decodeFrame } from '../editor/frames.ts'
import { Link } from './link.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { watchPage } from '../../platform/page.ts'
import type { Ending, Status } from '../status.ts'
import type { TokenSource } from './token.ts'
import { Warnings, warn } from '../warnings.ts'
import { chooseWebSocket, realtimeAddress, type WebSocketClass } from './web-socket.ts'

export interface ConnectOptions {
  /** Of the user; a callback is asked again when a token expires or is refused. */
  token: TokenSource
  /** Where there is none, as in Node 20: that of the package `ws`. */
  WebSocket?: WebSocketClass
  /** When a user counts as away and offline; `false` leaves that to `presence.set`. */
  idle?: IdleTimes | false
}

/** Opens its socket when the first document is opened. */
export interface Connection {
  readonly status: Status
  /** Why it is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** The last thing that went wrong, also why it is `reconnecting`. It stays when it is `connected` again. */
  readonly lastError: ApiError | undefined
  /** Of the token; unknown until the first connection. */
  readonly userId: string | undefined
  /**
   * The same object for the same document until it is closed; the options count the first time. `Data` is the type of
   * the presence data.
   */
  document<Data extends object = Record<string, unknown>>(
    organizationId: string,
    documentId: string,
    options?: LiveDocumentOptions,
  ): LiveDocument<Data>
  /** Called at each change of the status, not at once. */
  subscribe(listener: (status: Status) => void): Unsubscribe
  /**
   * Why the connection, a document or an editor is `denied` or `failed`, what the server refuses, and what is wrong with
   * the token. In development, what nobody listens to is shown in the console.
   */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /**
   * Connects at once: before the first document is opened, instead of waiting for the next attempt, and after `denied` and
   * `failed`, with another token.
   */
  reconnect(): void
  /** Closes all documents, then itself, for good. */
  close(): void
}

type Outcome = (ServerMessage & { type: 'done' }) | ApiError
type Answer = (outcome: Outcome) => void

class ConnectionSession implements Connection, DocumentHost {
  lastError: ApiError | undefined
  readonly #link: Link
  readonly #documents = new Map<string, DocumentSession>()
  readonly #refs = new Map<number, DocumentSession>()
  readonly #channels = new Map<number, EditorSession>()
  readonly #answers = new Map<number, Answer>()
  readonly #listeners = new Listeners<Status>()
  readonly #errors = new Listeners<ApiError>()
  readonly #warnings = new Warnings()
  /** Why attempts fail, since the last connection. */
  #toldFailure: string | undefined
  readonly #options: ConnectOptions
  #activity: Activity | undefined
  #leavePage: (() => void) | undefined
  #lastRef = 0
  #lastChannel = 0
  #lastId = 0

  constructor(url: string, options: ConnectOptions) {
    this.#options = options
    const { token, WebSocket } = options
    const address = realtimeAddress(url)
    const openSocket = () => new (chooseWebSocket(WebSocket))(address)
    this.#link = new Link(
      { address, token, openSocket },
      {
        ready: () => this.#each((document) => document.open()),
        lost: () => this.#lost(),
        statusChanged: () => this.#statusChanged(),
        message: (message) => this.#receive(message),
        frame: (bytes) => this.#receiveFrame(bytes),
        error: (error, isMistake) => this.#linkFailed(error, isMistake),
        attemptFailed: (error, isLasting) => this.#attemptFailed(error, isLasting),
      },
    )
  }

  get status(): Status {
    return this.#link.status
  }

  get ended(): Ending | undefined {
    return this.#link.ended
  }

  get userId(): string | undefined {
    return this.#link.userId
  }

  get isReady(): boolean {
    return this.#link.isReady
  }

  get idleStatus(): OnlineStatus {
    return this.#activity?.status ?? 'online'
  }

  get failure(): ApiError | undefined {
    if (this.status === 'closed') return new ApiError('ABORTED', 'The connection was closed.')
    return this.#link.failure
  }

  document<Data extends object = Record<string, unknown>>(
    organizationId: string,
    documentId: string,
    options: LiveDocumentOptions = {},
  ): LiveDocument<Data> {
    return this.#document(organizationId, documentId, options) as LiveDocument as LiveDocument<Data>
  }

  #document(organizationId: string, documentId: string, options: LiveDocumentOptions): DocumentSession {
    checkId('organizationId', organizationId)
    checkId('documentId', documentId)
    if (this.failure?.status === 'ABORTED') throw this.failure
    const key = JSON.stringify([organizationId, documentId])
    const known = this.#documents.get(key)
    if (known) return known
    // Not before the caller has the document: the token callback may use it.
    if (this.#start()) queueMicrotask(() => this.#link.wake())
    const document = new DocumentSession(organizationId, documentId, options, this)
    this.#documents.set(key, document)
    document.connectionChanged(this.status)
    document.open()
    return document
  }

  subscribe(listener: (status: Status) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  on(_event: 'error', listener: (error: ApiError) => void): Unsubscribe {
    return this.#errors.add(listener)
  }

  reconnect(): void {
    if (this.status === 'closed') return
    this.#start()
    this.#link.connect()
  }

  close(): void {
    if (this.status === 'closed') return
    this.#each((document) => document.close())
    this.#activity?.stop()
    this.#leavePage?.()
    this.#link.close()
    this.#listeners.clear()
    this.#errors.clear()
  }

  send(message: ClientMessage): void {
    this.#link.send(message)
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.#link.sendBytes(bytes)
  }

  newRef(document: DocumentSession): number {
    this.#refs.set(++this.#lastRef, document)
    return this.#lastRef
  }

  freeRef(ref: number): void {
    this.#refs.delete(ref)
  }

  newChannel(editor: EditorSession): number {
    this.#channels.set(++this.#lastChannel, editor)
    return this.#lastChannel
  }

  freeChannel(channel: number): void {
    this.#channels.delete(channel)
  }

  request(message: (id: number) => ClientMessage, answer: Answer): void {
    const id = ++this.#lastId
    this.#answers.set(id, answer)
    this.send(message(id))
  }

  error(error: ApiError, isHandled = false): void {
    this.lastError = error
    if (!this.#errors.emit(error) && !isHandled) this.#warnings.once(error.message)
  }

  closed(document: DocumentSession): void {
    this.#documents.delete(JSON.stringify([document.organizationId, document.documentId]))
  }

  /**
   * On first use. A connection that a server creates while it renders a page opens nothing, watches nothing and needs no
   * WebSocket class. False if that was done already.
   */
  #start(): boolean {
    if (this.#activity) return false
    chooseWebSocket(this.#options.WebSocket)
    this.#activity = watchActivity(
      this.#options.idle ?? {},
      () => this.#each(({ presence }) => presence.active()),
      () => this.#each(({ presence }) => presence.publish()),
    )
    this.#leavePage = watchPage({
      awake: () => this.#link.wake(),
      shown: (isShown) => this.#each((document) => document.pageShown(isShown)),
    })
    return true
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'done':
        return this.#answer(message.id, message)
      case 'error':
        return this.#refused(message)
      case 'editorOpened':
      case 'editorClosed':
      case 'versionAdded':
      case 'versionRestored':
      case 'versionsChanged':
        return this.#channels.get(message.channel)?.receive(message)
      case 'closed':
        // A token is that of all documents: without another one, none of them can be opened.
        if (message.code === closeCodes.unauthenticated)
          return this.#link.end({ code: message.code, reason: message.reason })
        return this.#refs.get(message.ref)?.receive(message)
      case 'opened':
      case 'access':
      case 'presence':
      case 'liveState':
        return this.#refs.get(message.ref)?.receive(message)
    }
  }

  #receiveFrame(bytes: Uint8Array): boolean {
    const decoded = decodeFrame(bytes)
    if (!decoded) return false
    const { channel, frame } = decoded
    if (frame) this.#channels.get(channel)?.receiveFrame(frame)
    return true
  }

  #answer(id: number, outcome: Outcome): void {
    const answer = this.#answers.get(id)
    this.#answers.delete(id)
    answer?.(outcome)
  }

  #refused({ id, ref, channel, status, message }: ServerMessage & { type: 'error' }): void {
    const error = new ApiError(status as ErrorStatus, message)
    if (id !== undefined) this.#answer(id, error)
    else if (channel !== undefined) this.#channels.get(channel)?.error(error)
    else if (ref !== undefined) this.#refs.get(ref)?.error(error)
    else this.error(error)
  }

  #linkFailed(error: ApiError, isMistake: boolean): void {
    if (isMistake) this.#warnings.once(error.message)
    // Every attempt may fail for the same reason, which is told once.
    if (!this.failure && this.#toldFailure === error.message) {
      this.lastError = error
      return
    }
    this.#toldFailure = error.message
    // The end of the connection is also that of its documents.
    const documents = this.failure ? [...this.#documents.values()] : []
    this.error(error, documents.filter((document) => document.inform(error)).length > 0)
  }

  #attemptFailed(error: ApiError, isLasting: boolean): void {
    this.lastError = error
    if (isLasting) warn(error.message)
  }

  #lost(): void {
    this.#answers.clear()
    this.#each((document) => document.lost())
  }

  #statusChanged(): void {
    this.lastError = this.#link.failure ?? this.lastError
    if (this.status === 'connected') this.#toldFailure = undefined
    this.#each((document) => document.connectionChanged(this.status))
    this.#listeners.emit(this.status)
  }

  #each(visit: (document: DocumentSession) => void): void {
    for (const document of this.#documents.values()) visit(document)
  }
}

export const connect = (url: string, options: ConnectOptions): Connection =>
  new ConnectionSession(url, options)
