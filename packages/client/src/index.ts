import { type ConnectOptions, type Connection, connect } from './live/connection/connection.ts'
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
export type { IdleTimes } from './live/presence/activity.ts'
export type { Connection, ConnectOptions } from './live/connection/connection.ts'
export type { LiveDocumentOptions, LiveDocument } from './live/document/document.ts'
export type { LiveEditor, LiveEditorOptions, LiveEditorState } from './live/editor/editor.ts'
export { editorName } from './live/editor/editor-name.ts'
export type { Unsubscribe } from './platform/listeners.ts'
export type { LiveState } from './live/state/live-state.ts'
export type { OwnPresence, Presence } from './live/presence/presence.ts'
export type { CallOptions, Result } from './call.ts'
export type * from './operations/index.ts'
export type { ClientOptions } from './rest.ts'
export type { Ending, Status } from './live/status.ts'
export type { TokenSource } from './live/connection/token.ts'
export type { VersionEvent, VersionPage, Versions } from './live/versions/versions.ts'
export type { WebSocketClass } from './live/connection/web-socket.ts'

export type Client = RestClient & {
  /** A connection for a user; the socket opens when the first document is opened on it. */
  connect(options: ConnectOptions): Connection
}

/** Every operation as a method, and `connect` for live documents. */
export const createClient = (options: ClientOptions): Client => ({
  ...createRestClient(options),
  connect: (more) => connect(options.url, more),
})
