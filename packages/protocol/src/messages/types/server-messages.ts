// Derived from the messages of /realtime by "npm run derive". Do not edit.
import type { AccessRole, Position, PresenceEntry, LiveStateValue, ThreadChanges, VersionInfo, VersionUser } from './shared.ts'

/** The client is authenticated. */
export interface ReadyMessage {
  type: 'ready'
  /** Id of the connection. */
  connectionId: string
  /** Id of the user. `server`: the client is a backend. */
  userId: string
  /** When the token expires, in Unix seconds. 9007199254740991: never, for a backend. */
  expiresAt: number
}

/** The document is open. The message has the current state of the topics to which the client subscribed. */
export interface OpenedMessage {
  type: 'opened'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole: AccessRole
  /** The last change of a document that a client has received. */
  position: Position
  /**
   * True: `liveStates` has all values, so discard those you have. False: it has the values that changed after
   * `since`.
   */
  reset: boolean
  /**
   * The presence list. It replaces the list that you have. If it is larger than 1 MiB, `presence` messages
   * bring the rest.
   */
  presence?: PresenceEntry[]
  /** Live states of the document. */
  liveStates?: LiveStateValue[]
  /** Comment annotations that changed after `since`. Present with the topic `comments`. */
  threads?: ThreadChanges
}

/**
 * The document and its editors are closed, or cannot be opened. Pending requests may get no answer. The
 * connection stays open.
 */
export interface ClosedMessage {
  type: 'closed'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** A close code. It says whether opening again can succeed. */
  code: number
  /** Why the server closed it, as a sentence. */
  reason: string
}

/** The role of the user changed while the document was open. */
export interface AccessMessage {
  type: 'access'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole: AccessRole
}

/**
 * The presence list of a document changed. The server combines changes within about 15 ms, and splits many
 * changes into several messages.
 */
export interface PresenceMessage {
  type: 'presence'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** Entries that are new or changed. Replace the old ones. */
  users: PresenceEntry[]
  /** Ids of the users who left. */
  left: string[]
}

/** Live states of a document were set, by this client, another client or a backend. */
export interface LiveStateMessage {
  type: 'liveState'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** The last change of a document that a client has received. */
  position: Position
  /** The new values. */
  states: LiveStateValue[]
}

/**
 * Comment annotations of a document changed. Sent to clients with the topic `comments`, as far as the user
 * may see the annotations. Without `position`, a `liveState` with the position follows, unless the message
 * only has `viewed`.
 */
export interface ThreadsMessage {
  type: 'threads'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** The last change of a document that a client has received. */
  position?: Position
  /**
   * True: too much changed. Load the annotations again with a `call` of `commentAnnotations.get`. The lists
   * are empty.
   */
  reset: boolean
  /** Annotations that were added or changed. */
  changed: Record<string, unknown>[]
  /** Ids of annotations that were deleted, or that the user may not see any more. */
  removed: string[]
  /** Ids of annotations that were added or changed, and are too large to be sent. Load them with a `call`. */
  large: string[]
  /** Ids of those annotations in `changed` that have a comment which the user has not seen. */
  unread: string[]
  /**
   * Ids of annotations that were marked as viewed, with any client of the user or by a backend: none of their
   * comments is unread any more.
   */
  viewed: string[]
}

/**
 * The inbox of the user may have changed. Read it again. Sent after `openInbox`. Several changes at once may
 * cause one message.
 */
export interface InboxChangedMessage {
  type: 'inboxChanged'
  /** Id of the organization. */
  organizationId: string
}

/** A list of documents or people changed. Sent after `openList`, at most once a second for each list. */
export interface ListChangedMessage {
  type: 'listChanged'
  /** Id of the organization. */
  organizationId: string
  /** Which list of the organization: the documents that the user can open, or the people. */
  list: 'documents' | 'people'
  /** True: read the list again from its first page. */
  reset: boolean
  /** What was added or changed, as far as the user may see it. */
  items: Record<string, unknown>[]
  /**
   * True: something else changed that the user may not see, or that is gone. Read by id those items that you
   * have.
   */
  recheck: boolean
}

/** The editor is open. Binary frames follow. */
export interface EditorOpenedMessage {
  type: 'editorOpened'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole: AccessRole
}

/** The editor is closed, or cannot be opened. Its document stays open. */
export interface EditorClosedMessage {
  type: 'editorClosed'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** A close code. It says whether opening again can succeed. */
  code: number
  /** Why the server closed it, as a sentence. */
  reason: string
}

/** This client, another client or a backend added a version. */
export interface VersionAddedMessage {
  type: 'versionAdded'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** The version. */
  version: VersionInfo
}

/** A version was restored. The new content arrives as an update. */
export interface VersionRestoredMessage {
  type: 'versionRestored'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** The version. */
  version: VersionInfo
  /** The user who restored the version. Absent if a backend did. */
  restoredBy?: VersionUser
}

/** The list of versions may have changed in another way, such as by a migration. Read it again. */
export interface VersionsChangedMessage {
  type: 'versionsChanged'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
}

/**
 * A request succeeded. What it changed is on disk. Which of the optional fields are present depends on the
 * request.
 */
export interface DoneMessage {
  type: 'done'
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** The change. Do not send it as `since`: changes with a lower `seq` can arrive after it. */
  position?: Position
  /** The versions, without their content. */
  versions?: VersionInfo[]
  /** Send it as `pageToken` to read the next page. Absent on the last page. */
  nextPageToken?: string
  /** The version that was added. */
  version?: VersionInfo
  /** The answer of the operation: what REST has inside `result`. */
  result?: Record<string, unknown>
}

/**
 * The server refused a message. The connection stays open. Nothing has changed, except possibly after
 * `UNAVAILABLE`. `id`, `ref` and `channel` are those of the refused message.
 */
export interface ErrorMessage {
  type: 'error'
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id?: number
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref?: number
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel?: number
  /** The kind of the error: one of the statuses of REST. */
  status: string
  /** What is wrong, as a sentence. */
  message: string
  /** The outcome of each item, if the operation of a `call` says so. */
  details?: unknown
}

/** The server closes the connection soon, because it shuts down. */
export interface MovedMessage {
  type: 'moved'
  /** Connect again this many milliseconds after the message. */
  retryAfterMs: number
}

/**
 * The token expires within a minute. Send a new one with `auth`. Sent once for each token, if a document is
 * open.
 */
export interface TokenExpiringMessage {
  type: 'tokenExpiring'
  /** When the token expires, in Unix seconds. 9007199254740991: never, for a backend. */
  expiresAt: number
}

/**
 * Answers `ping`. While messages of the client wait for a document to load, the server sends `pong` every 20
 * s without a `ping`.
 */
export interface PongMessage {
  type: 'pong'
}

/** A message that the server can send. */
export type ServerMessage =
  | ReadyMessage
  | OpenedMessage
  | ClosedMessage
  | AccessMessage
  | PresenceMessage
  | LiveStateMessage
  | ThreadsMessage
  | InboxChangedMessage
  | ListChangedMessage
  | EditorOpenedMessage
  | EditorClosedMessage
  | VersionAddedMessage
  | VersionRestoredMessage
  | VersionsChangedMessage
  | DoneMessage
  | ErrorMessage
  | MovedMessage
  | TokenExpiringMessage
  | PongMessage
