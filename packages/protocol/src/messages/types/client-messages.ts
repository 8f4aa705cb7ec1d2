// Derived from the messages of /realtime by "npm run derive". Do not edit.
import type { Topic, Position, OnlineStatus, CrdtType } from './shared.ts'

/**
 * Authenticates the client, or renews its token. The first message, unless the token is in the URL or the
 * headers have the credentials of a backend. A later `auth` replaces the token by a new one of the same user.
 * If the server refuses the first token, it closes the connection. If it refuses a later token, it sends
 * `error`, and the old token stays valid until it expires.
 */
export interface AuthMessage {
  type: 'auth'
  /** The user token. At most 16,384 characters. */
  token: string
}

/**
 * Opens a document. Creates the document if it does not exist and the user may open it. If an id is not
 * valid, the server answers `closed` with the code 4400.
 */
export interface OpenMessage {
  type: 'open'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** Id of the organization. At most 1,000 characters. */
  organizationId: string
  /** Id of the document. At most 1,000 characters. */
  documentId: string
  /** What to subscribe to: `presence`, `liveState` and `comments`. At most 100 items. */
  topics: Topic[]
  /** The newest position that the client has received. Requests only what changed after it. */
  since?: Position
}

/**
 * Closes a document. The server still handles the messages that the client sent before. The ref and the
 * channels of its editors can be used again immediately.
 */
export interface CloseMessage {
  type: 'close'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
}

/** Changes the entry of the user in the presence list of a document. Absent fields keep their value. */
export interface SetPresenceMessage {
  type: 'setPresence'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** The status that other users see. */
  status?: OnlineStatus
  /** Data that other users see, such as a cursor. `null` removes it. */
  data?: Record<string, unknown> | null
}

/** Sets a live state of a document. */
export interface SetLiveStateMessage {
  type: 'setLiveState'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Id of the live state inside the document. At most 1,000 characters. */
  liveStateDataId: string
  /** The new value, or with `merge` the keys to change. */
  data: Record<string, unknown>
  /** True: the sent keys are merged into the stored value, one level deep. Default: false. */
  merge?: boolean
}

/**
 * Opens an editor of an open document. Creates the editor if it does not exist. The server ignores the
 * declared type and key of a viewer. If `editorId` or `contentKey` is not valid, it answers `editorClosed`
 * with the code 4400.
 */
export interface OpenEditorMessage {
  type: 'openEditor'
  /** Number of the document on this connection, chosen by the client. At least 0. */
  ref: number
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** Id of the editor inside the document. At most 1,000 characters. */
  editorId: string
  /** Declares for REST the type of the content. Default: the server looks for the content. */
  contentType?: CrdtType
  /** Declares for REST which root has the content. At most 1,000 characters. */
  contentKey?: string
}

/**
 * Closes an editor. The server still handles the messages that the client sent before. The channel can be
 * used again immediately.
 */
export interface CloseEditorMessage {
  type: 'closeEditor'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
}

/** Lists the versions of an open editor, newest first. */
export interface ListVersionsMessage {
  type: 'listVersions'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Maximum number of versions in the answer, from 1 to 100. Default: 100. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

/**
 * Saves the content of an open editor as a version. The version contains all updates that the client sent
 * before.
 */
export interface AddVersionMessage {
  type: 'addVersion'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Display name of the version. At most 1,000 characters. */
  name: string
}

/**
 * Restores an open editor to a version. The restored content arrives as an ordinary update, before or after
 * the answer.
 */
export interface RestoreVersionMessage {
  type: 'restoreVersion'
  /** Number of the editor on this connection, chosen by the client. At least 0. */
  channel: number
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Id of the version. At most 1,000 characters. */
  versionId: string
}

/**
 * Calls an operation as the user of the connection. The operations that users can call have the access API
 * key or user. The input is checked and the operation runs as over REST. No document needs to be open.
 */
export interface CallMessage {
  type: 'call'
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** The operation, such as `comments.add`. At most 1,000 characters. */
  operation: string
  /** The input of the operation: what REST has inside `data`. */
  input: Record<string, unknown>
  /**
   * Only for writes: a repeated call with the same key runs once, and gets the first answer. At most 255
   * characters.
   */
  idempotencyKey?: string
}

/**
 * Subscribes to changes of the inbox of the user in an organization. After `done`, read the inbox with a call
 * of `notifications.get`, and read it again after each `inboxChanged`. No document needs to be open. If the
 * inbox is open, nothing changes.
 */
export interface OpenInboxMessage {
  type: 'openInbox'
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Id of the organization. At most 1,000 characters. */
  organizationId: string
}

/** Ends the subscription to an inbox. */
export interface CloseInboxMessage {
  type: 'closeInbox'
  /** Id of the organization. At most 1,000 characters. */
  organizationId: string
}

/**
 * Subscribes to changes of a list of an organization: its documents or its people. After `done`, read the
 * list on this connection, with a call of `documents.list` or `users.list`, and apply each `listChanged`. No
 * document needs to be open. If the list is open, nothing changes.
 */
export interface OpenListMessage {
  type: 'openList'
  /** Number of the request, chosen by the client. The answer has the same number. At least 0. */
  id: number
  /** Id of the organization. At most 1,000 characters. */
  organizationId: string
  /** Which list of the organization: the documents that the user can open, or the people. */
  list: 'documents' | 'people'
}

/** Ends the subscription to a list. */
export interface CloseListMessage {
  type: 'closeList'
  /** Id of the organization. At most 1,000 characters. */
  organizationId: string
  /** Which list of the organization: the documents that the user can open, or the people. */
  list: 'documents' | 'people'
}

/**
 * Keeps the connection alive, and the user present. Browsers cannot send the pings of the WebSocket protocol.
 */
export interface PingMessage {
  type: 'ping'
}

/** A message that a client can send. */
export type ClientMessage =
  | AuthMessage
  | OpenMessage
  | CloseMessage
  | SetPresenceMessage
  | SetLiveStateMessage
  | OpenEditorMessage
  | CloseEditorMessage
  | ListVersionsMessage
  | AddVersionMessage
  | RestoreVersionMessage
  | CallMessage
  | OpenInboxMessage
  | CloseInboxMessage
  | OpenListMessage
  | CloseListMessage
  | PingMessage
