import type { ApiError } from '@plenum/protocol/errors'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import type { LiveDocument, LiveDocumentOptions } from '../document/document.ts'
import type { ListedDocument, Person } from '../../operations/index.ts'
import type { Inbox } from '../inbox/inbox.ts'
import type { LiveList } from '../lists/live-list.ts'
import type { IdleTimes } from '../presence/activity.ts'
import type { Ending, Status } from '../status.ts'
import type { TokenSource } from './token.ts'
import type { WebSocketClass } from './web-socket.ts'

export interface ConnectOptions {
  /** The token of the user, or a callback that returns it. The client never puts the token in the address. */
  token: TokenSource
  /** The WebSocket class. Default: the global one. Node 20 has none: pass the class `WebSocket` of the package `ws`. */
  WebSocket?: WebSocketClass
  /**
   * When an inactive user is shown as `away` and as `offline`. Default: after 5 and 10 minutes. `false` turns this off:
   * the status then changes only with `presence.set`.
   */
  idle?: IdleTimes | false
}

/** The state of a connection. Immutable: a change gives a new object. */
export interface ConnectionState {
  readonly status: Status
  /**
   * Why the status is not `connected`: the token callback failed, the server does not answer, the device is offline, or the
   * server refused the connection. Undefined while it is connected, and until the first attempt has failed.
   */
  readonly reason: ApiError | undefined
}

/**
 * A connection of one user, shared by all documents. Creating it opens nothing: its socket opens with the first document, inbox
 * or call, or with `reconnect()`. A lost connection is replaced automatically.
 */
export interface Connection extends ConnectionState {
  /** Status and reason as one object, which is replaced on every change. */
  readonly state: ConnectionState
  /** Why the status is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /**
   * The last error. It also explains `reconnecting`. It stays after the connection is back, so check `status` first.
   */
  readonly lastError: ApiError | undefined
  /** The user id in the token. Undefined until the first connection. */
  readonly userId: string | undefined
  /**
   * Opens a document. Returns the same object for the same ids until you close the document, and ignores the options of
   * later calls. `Data` is the type of the presence data of your application.
   */
  document<Data extends object = Record<string, unknown>>(
    organizationId: string,
    documentId: string,
    options?: LiveDocumentOptions,
  ): LiveDocument<Data>
  /** The notifications of the user in an organization. Returns the same object for the same organization. */
  inbox(organizationId: string): Inbox
  /** The documents of an organization that the user can open, newest first. Returns the same object for the same organization. */
  documents(organizationId: string): LiveList<ListedDocument>
  /** The people of an organization, in the order of their ids. Returns the same object for the same organization. */
  people(organizationId: string): LiveList<Person>
  /**
   * The operations that the user can call, on the socket of the connection: `connection.operations.comments.add(…)`. A call
   * made while offline waits for the connection. A write runs once, also if the connection is lost before the answer.
   */
  readonly operations: UserOperations
  /** Calls the listener on every later change of the status or of its reason. */
  subscribe(listener: (status: Status) => void): Unsubscribe
  /**
   * Calls the listener when the connection, a document or an editor becomes `denied` or `failed`, when the server refuses
   * a request, and when there is no usable token. In development, the console shows errors that have no listener.
   */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /**
   * Connects without waiting for the next attempt. It also works before the first document is opened, and after `denied`
   * and `failed`: the token callback is then called again.
   */
  reconnect(): void
  /** Closes all documents and the socket. A closed connection cannot be opened again. */
  close(): void
}
