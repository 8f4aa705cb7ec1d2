import { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
import {
  type ClientMessage,
  closeCodes,
  type OnlineStatus,
  type ServerMessage,
} from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { watchPage } from '../../platform/page.ts'
import { checkId } from '../checks.ts'
import { SocketCalls, type UserOperations } from '../calls/socket-calls.ts'
import type { LiveDocument, LiveDocumentOptions } from '../document/document.ts'
import { type DocumentDeps, DocumentSession } from '../document/document-session.ts'
import type { EditorSession } from '../editor/editor-session.ts'
import { decodeFrame } from '../editor/frames.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { InboxSession } from '../inbox/inbox-session.ts'
import { documentKind, type ListKind, peopleKind } from '../lists/list-kinds.ts'
import { ListSession } from '../lists/list-session.ts'
import type { LiveList } from '../lists/live-list.ts'
import type { ListedDocument, Person } from '../../operations/index.ts'
import { type Activity, watchActivity } from '../presence/activity.ts'
import type { Ending, Status } from '../status.ts'
import { Warnings, warn } from '../warnings.ts'
import type { Connection, ConnectionState, ConnectOptions } from './connection.ts'
import { Link } from './link.ts'
import { chooseWebSocket, realtimeAddress } from './web-socket.ts'

type Outcome = (ServerMessage & { type: 'done' }) | ApiError
type OnOutcome = (outcome: Outcome) => void

interface Watchers {
  activity: Activity
  stopWatchingPage: () => void
}

class ConnectionSession implements Connection, DocumentDeps {
  lastError: ApiError | undefined
  /** The state that was reported last. */
  state: ConnectionState = { status: 'connecting', reason: undefined }
  /** Why the latest attempt to connect failed. Undefined since the connection was ready. */
  #attemptError: ApiError | undefined
  readonly #link: Link
  readonly #documents = new Map<string, DocumentSession>()
  readonly #refs = new Map<number, DocumentSession>()
  readonly #channels = new Map<number, EditorSession>()
  readonly #requests = new Map<number, OnOutcome>()
  readonly #calls: SocketCalls
  readonly #inboxes = new Map<string, InboxSession>()
  readonly #lists = new Map<string, ListSession<never>>()
  readonly #listeners = new Listeners<Status>()
  readonly #errors = new Listeners<ApiError>()
  readonly #warnings = new Warnings()
  /** The message of the link error that was reported last. Cleared when the connection is ready. */
  #reportedFailure: string | undefined
  readonly #options: ConnectOptions
  /** Undefined until the connection is used for the first time. */
  #watchers: Watchers | undefined
  #lastRef = 0
  #lastChannel = 0
  #lastRequestId = 0

  constructor(url: string, options: ConnectOptions) {
    this.#options = options
    this.#calls = new SocketCalls({
      failure: () => this.failure,
      request: (message, onOutcome) => {
        this.connect()
        if (!this.isReady) return false
        this.request((id) => ({ ...message, id }), onOutcome)
        return true
      },
    })
    const { token, WebSocket } = options
    const address = realtimeAddress(url)
    const createSocket = () => new (chooseWebSocket(WebSocket))(address)
    this.#link = new Link(
      { address, token, createSocket },
      {
        onReady: () => {
          this.#forEachDocument((document) => document.open())
          for (const list of [...this.#inboxes.values(), ...this.#lists.values()]) list.open()
          this.#calls.requests.flush()
        },
        onLost: () => this.#onLost(),
        onStatusChange: () => this.#onStatusChange(),
        onMessage: (message) => this.#receive(message),
        onFrame: (bytes) => this.#receiveFrame(bytes),
        onError: (error, needsDeveloper) => this.#onLinkError(error, needsDeveloper),
        onAttemptFailed: (error, needsWarning) => this.#onAttemptFailed(error, needsWarning),
      },
    )
  }

  get status(): Status {
    return this.#link.status
  }

  get reason(): ApiError | undefined {
    if (this.status === 'connected' || this.status === 'closed') return undefined
    return this.failure ?? this.#attemptError
  }

  get ended(): Ending | undefined {
    return this.#link.ended
  }

  get userId(): string | undefined {
    return this.#link.userId
  }

  get operations(): UserOperations {
    return this.#calls.operations
  }

  get isReady(): boolean {
    return this.#link.isReady
  }

  get activityStatus(): OnlineStatus {
    return this.#watchers?.activity.status ?? 'online'
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
    return this.#openDocument(organizationId, documentId, options) as LiveDocument as LiveDocument<Data>
  }

  #openDocument(organizationId: string, documentId: string, options: LiveDocumentOptions): DocumentSession {
    checkId('organizationId', organizationId)
    checkId('documentId', documentId)
    if (this.failure?.status === 'ABORTED') throw this.failure
    const key = documentKey(organizationId, documentId)
    const known = this.#documents.get(key)
    if (known) return known
    this.connect()
    const document = new DocumentSession(organizationId, documentId, options, this)
    this.#documents.set(key, document)
    document.onConnectionStatus(this.status)
    document.open()
    return document
  }

  inbox(organizationId: string): Inbox {
    checkId('organizationId', organizationId)
    const known = this.#inboxes.get(organizationId)
    if (known) return known
    const inbox = new InboxSession(organizationId, this)
    this.#inboxes.set(organizationId, inbox)
    inbox.setProblem(this.reason, this.failure !== undefined)
    return inbox
  }

  documents(organizationId: string): LiveList<ListedDocument> {
    return this.#list(organizationId, documentKind)
  }

  people(organizationId: string): LiveList<Person> {
    return this.#list(organizationId, peopleKind)
  }

  #list<Item extends object>(organizationId: string, kind: ListKind<Item>): LiveList<Item> {
    checkId('organizationId', organizationId)
    const key = listKey(kind.list, organizationId)
    const known = this.#lists.get(key)
    if (known) return known
    const list = new ListSession(organizationId, kind, this)
    this.#lists.set(key, list as unknown as ListSession<never>)
    list.setProblem(this.reason, this.failure !== undefined)
    return list
  }

  /** Connects with the first use. In a microtask, so that the caller has its document first: the token callback may use it. */
  connect(): void {
    if (this.#start()) queueMicrotask(() => this.#link.wake())
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
    this.#link.reconnect()
  }

  close(): void {
    if (this.status === 'closed') return
    this.#forEachDocument((document) => document.close())
    for (const list of [...this.#inboxes.values(), ...this.#lists.values()]) list.close()
    this.#watchers?.activity.stop()
    this.#watchers?.stopWatchingPage()
    this.#link.close()
    this.#calls.requests.rejectAll(this.failure as ApiError)
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

  request(message: (id: number) => ClientMessage, onOutcome: OnOutcome): void {
    const id = ++this.#lastRequestId
    this.#requests.set(id, onOutcome)
    this.send(message(id))
  }

  reportError(error: ApiError, isHandled = false): void {
    this.lastError = error
    if (!this.#errors.emit(error) && !isHandled) this.#warnings.once(error.message)
  }

  onDocumentClosed({ organizationId, documentId }: DocumentSession): void {
    this.#documents.delete(documentKey(organizationId, documentId))
  }

  /**
   * Prepares the first use and returns true; later calls return false. A server that renders a page may create a
   * connection: until it is used, the connection opens nothing, watches nothing and needs no WebSocket class.
   */
  #start(): boolean {
    if (this.#watchers) return false
    chooseWebSocket(this.#options.WebSocket)
    this.#watchers = {
      activity: watchActivity(
        this.#options.idle ?? {},
        () => this.#forEachDocument(({ presence }) => presence.onActivity()),
        () => this.#forEachDocument(({ presence }) => presence.publish()),
      ),
      stopWatchingPage: watchPage({
        onWake: () => {
          this.#link.wake()
          this.#forEachDocument((document) => document.wake())
        },
        onOffline: () => this.#link.onOffline(),
        onShown: (isShown) => this.#forEachDocument((document) => document.onPageShown(isShown)),
      }),
    }
    return true
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'done':
        return this.#settleRequest(message.id, message)
      case 'error':
        return this.#receiveError(message)
      case 'editorOpened':
      case 'editorClosed':
      case 'versionAdded':
      case 'versionRestored':
      case 'versionsChanged':
        return this.#channels.get(message.channel)?.receive(message)
      case 'closed':
        // All documents share the token: if it is not valid, none of them can be open.
        if (message.code === closeCodes.unauthenticated)
          return this.#link.end({ code: message.code, reason: message.reason })
        return this.#refs.get(message.ref)?.receive(message)
      case 'inboxChanged':
        return this.#inboxes.get(message.organizationId)?.onChanged()
      case 'listChanged':
        return this.#lists.get(listKey(message.list, message.organizationId))?.onChanged(message)
      case 'opened':
      case 'access':
      case 'presence':
      case 'liveState':
      case 'threads':
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

  #settleRequest(id: number, outcome: Outcome): void {
    const onOutcome = this.#requests.get(id)
    this.#requests.delete(id)
    onOutcome?.(outcome)
  }

  #receiveError({ id, ref, channel, status, message, details }: ServerMessage & { type: 'error' }): void {
    const error = new ApiError(status as ErrorStatus, message, { details })
    if (id !== undefined) this.#settleRequest(id, error)
    else if (channel !== undefined) this.#channels.get(channel)?.reportError(error)
    else if (ref !== undefined) this.#refs.get(ref)?.reportError(error)
    else this.reportError(error)
  }

  #onLinkError(error: ApiError, needsDeveloper: boolean): void {
    if (needsDeveloper) this.#warnings.once(error.message)
    this.lastError = error
    this.#setAttemptError(error)
    // Every attempt may fail for the same reason, so the reason is reported once.
    if (!this.failure && this.#reportedFailure === error.message) return
    this.#reportedFailure = error.message
    // When the connection ends, its documents end for the same reason.
    const documents = this.failure ? [...this.#documents.values()] : []
    this.reportError(error, documents.filter((document) => document.emitEnding(error)).length > 0)
  }

  #onAttemptFailed(error: ApiError, needsWarning: boolean): void {
    this.lastError = error
    if (needsWarning) warn(error.message)
    this.#setAttemptError(error)
  }

  #setAttemptError(error: ApiError): void {
    this.#attemptError = error
    this.#reportState()
  }

  #onLost(): void {
    this.#requests.clear()
    this.#calls.requests.onLost()
    this.#forEachDocument((document) => document.onConnectionLost())
  }

  #onStatusChange(): void {
    this.lastError = this.#link.failure ?? this.lastError
    if (this.status === 'connected') this.#reportedFailure = this.#attemptError = undefined
    if (this.failure) this.#calls.requests.rejectAll(this.failure)
    this.#reportState()
  }

  /** Reports the state if the status or the text of the reason has changed. */
  #reportState(): void {
    const { status, reason, failure } = this
    if (this.state.status === status && this.state.reason?.message === reason?.message) return
    this.state = { status, reason }
    for (const list of [...this.#inboxes.values(), ...this.#lists.values()])
      list.setProblem(reason, failure !== undefined)
    this.#forEachDocument((document) => document.onConnectionStatus(status))
    this.#listeners.emit(status)
  }

  #forEachDocument(visit: (document: DocumentSession) => void): void {
    for (const document of this.#documents.values()) visit(document)
  }
}

const listKey = (list: string, organizationId: string) => `${list} ${organizationId}`

const documentKey = (organizationId: string, documentId: string) =>
  JSON.stringify([organizationId, documentId])

export const connect = (url: string, options: ConnectOptions): Connection =>
  new ConnectionSession(url, options)
