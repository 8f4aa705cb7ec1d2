import type { Connection, ConnectOptions } from './live/connection/connection.ts'
import { connect } from './live/connection/connection-session.ts'
import { createClient as createRestClient, type Client as RestClient, type ClientOptions } from './rest.ts'

export { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
export type {
  AccessRole,
  LiveStateValue,
  OnlineStatus,
  Position,
  PresentUser,
  Topic,
  VersionInfo,
  VersionUser,
} from '@plenum/protocol/realtime'
export { closeCodes } from '@plenum/protocol/realtime'
export type { CallOptions, Result } from './platform/call.ts'
export type { Connection, ConnectionState, ConnectOptions } from './live/connection/connection.ts'
export type { TokenSource } from './live/connection/token.ts'
export type { WebSocketClass } from './live/connection/web-socket.ts'
export type { LiveDocumentOptions, LiveDocument } from './live/document/document.ts'
export type { LiveEditor, LiveEditorOptions, LiveEditorState } from './live/editor/editor.ts'
export { editorName } from './live/editor/editor-name.ts'
export type { Inbox, InboxNotification, InboxState } from './live/inbox/inbox.ts'
export { locateRange, type PlacedRange, rangeBetween } from './live/editor/ranges.ts'
export type { EditorPlace, SharedType } from './live/editor/text-of-type.ts'
export type { IdleTimes } from './live/presence/activity.ts'
export type { OwnPresence, Presence } from './live/presence/presence.ts'
export type { LiveState } from './live/state/live-state.ts'
export type { LiveList, LiveListState } from './live/lists/live-list.ts'
export type { Ending, Status } from './live/status.ts'
export type { UserOperations } from './live/calls/socket-calls.ts'
export type { NewComment, NewThread, Thread, Threads, ThreadsState } from './live/threads/threads.ts'
export type {
  AllVersions,
  VersionEvent,
  VersionListState,
  VersionPage,
  Versions,
} from './live/versions/versions.ts'
export type * from './operations/index.ts'
export type { Unsubscribe } from './platform/listeners.ts'
export type { ClientOptions } from './rest.ts'

/** The client of a Plenum server: every REST operation as a method, and `connect` for live documents. */
export type Client = RestClient & {
  /** Creates a connection for one user. Its socket opens when it is first used. */
  connect(options: ConnectOptions): Connection
}

/**
 * Creates a client with every REST operation as a method, and `connect` for live documents. It sends nothing until you
 * call a method. Throws a `TypeError` if `url` is not the address of a server.
 *
 * ```ts
 * const client = createClient({ url: 'https://plenum.example.com' })
 * const document = client.connect({ token }).document('acme', 'roadmap')
 * ```
 */
export const createClient = (options: ClientOptions): Client => ({
  ...createRestClient(options),
  connect: (connectOptions) => connect(options.url, connectOptions),
})
