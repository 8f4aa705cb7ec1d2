import { maxIdLength, maxPageTokenLength, maxShortNameLength } from './base/limits.ts'

/**
 * The messages of `/realtime`, version 1. A text frame is one JSON message; a binary frame is a message of an editor. One
 * socket carries many documents, each with a `ref` that the client chooses, and many editors, each with a `channel`.
 */

/**
 * Why the server closes a connection, a document or an editor. After 44xx, opening it again gives the same result. After
 * all other codes, the client opens it again and continues.
 */
export const closeCodes = {
  /** The server shuts down, or it must load the content again. Connect again after a short delay. */
  restarting: 1012,
  /** The client read too slowly and too many bytes were queued. It receives what it missed when it connects again. */
  slow: 4008,
  /** The client exceeded a rate limit, which the reason names. Connect again after a minute. */
  rateLimited: 4029,
  /** The client sent an invalid message. */
  badMessage: 4400,
  /** The token is missing, invalid or expired. Get a new one and connect again. */
  unauthenticated: 4401,
  /** The user has no access to this document, or the origin is not allowed. */
  permissionDenied: 4403,
  /** The document was deleted or moved to another id. */
  gone: 4404,
  /** An update is malformed or exceeds a limit. */
  invalidUpdate: 4422,
  /** Too many documents or editors: on one connection, in one document, or created in one day. */
  tooMany: 4429,
  /** The server could not read or store something. An update that it could not store is not acknowledged. */
  unavailable: 4503,
} as const

export type CloseReason = keyof typeof closeCodes

export type Topic = 'presence' | 'liveState' | 'comments' | 'notifications'
export type OnlineStatus = 'online' | 'away' | 'offline'
export type AccessRole = 'viewer' | 'editor'

/** The statuses that a client can set for its user. */
export const onlineStatuses: readonly OnlineStatus[] = ['online', 'away', 'offline']

/**
 * A user in the presence list of a document. A user with several connections has one entry. The server does not validate
 * the shape of `data`, so `Data` is an assumption about the clients of your application.
 */
export interface PresentUser<Data extends object = Record<string, unknown>> {
  userId: string
  name?: string
  email?: string
  /** URL of a picture, from the token or the profile of the user. */
  photoUrl?: string
  /** CSS color, the same for every client: from the token or the profile, or derived from the user id. */
  color: string
  onlineStatus: OnlineStatus
  /** The data that a client of the user set with `presence.set`. */
  data?: Data
  /** `rest`: a backend added the user. */
  source: 'client' | 'rest'
  /** When the entry last changed, as Unix time in milliseconds. */
  timestamp: number
}

export interface LiveStateValue {
  id: string
  liveStateDataId: string
  data: Record<string, unknown>
  /** When the value was last changed, as Unix time in milliseconds. */
  lastUpdated: number
  updatedBy: { userId: string }
}

/** A saved state of an editor, without its content. */
export interface VersionInfo {
  versionId: string
  name: string
  type: 'text' | 'map' | 'array' | 'xml'
  /** When the version was saved, as Unix time in milliseconds. */
  createdAt: number
  /** The user who saved the version. Absent if a backend saved it without `userId`. */
  createdBy?: VersionUser
}

export interface VersionUser {
  userId: string
  name?: string
}

/**
 * The last change of a document that a client has received. Another `epoch` means another document under the same id,
 * created after the first one was deleted or moved.
 */
export interface Position {
  epoch: string
  seq: number
}

export type ClientMessage =
  /**
   * The first message, unless the token is in the URL or the headers have the credentials of a backend. A later `auth`
   * replaces the token by a new one of the same user.
   */
  | { type: 'auth'; token: string }
  /** Opens a document. A connection can open each document once. */
  | {
      type: 'open'
      ref: number
      organizationId: string
      documentId: string
      topics: Topic[]
      /** Requests only the live states that changed after this position. */
      since?: Position
    }
  | { type: 'close'; ref: number }
  /** Absent fields keep their value. `data: null` removes the data. */
  | { type: 'setPresence'; ref: number; status?: OnlineStatus; data?: Record<string, unknown> | null }
  | {
      type: 'setLiveState'
      ref: number
      /** The answer carries the same id. */
      id: number
      liveStateDataId: string
      data: Record<string, unknown>
      /** Merges the keys into the stored value instead of replacing it. */
      merge?: boolean
    }
  | {
      type: 'openEditor'
      ref: number
      channel: number
      editorId: string
      /** Declares the type of the content, for REST. Ignored for a viewer. Refused if another declared root has content. */
      contentType?: 'text' | 'map' | 'array' | 'xml'
      contentKey?: string
    }
  | { type: 'closeEditor'; channel: number }
  /** Lists the versions of an open editor, newest first. The answer has `versions`, and `nextPageToken` if there are more. */
  | { type: 'listVersions'; channel: number; id: number; pageSize?: number; pageToken?: string }
  /** Saves the content of the editor as a version, including all updates sent before. The answer has `version`. */
  | { type: 'addVersion'; channel: number; id: number; name: string }
  | { type: 'restoreVersion'; channel: number; id: number; versionId: string }
  /** Answered by `pong`. Browsers cannot send the pings of the WebSocket protocol. */
  | { type: 'ping' }

export type ServerMessage =
  /** The client is authenticated. The token expires at `expiresAt` (Unix seconds). */
  | { type: 'ready'; connectionId: string; userId: string; expiresAt: number }
  | {
      type: 'opened'
      ref: number
      accessRole: AccessRole
      position: Position
      /**
       * True: `liveStates` has all values, so drop those you have. False: it has the values that changed since your position.
       * `presence` always replaces your list.
       */
      reset: boolean
      presence?: PresentUser[]
      liveStates?: LiveStateValue[]
    }
  /** The server closed the document for this client. After 44xx, opening it again gives the same result. */
  | { type: 'closed'; ref: number; code: number; reason: string }
  /** The role of the user changed while the document was open. */
  | { type: 'access'; ref: number; accessRole: AccessRole }
  | { type: 'presence'; ref: number; users: PresentUser[]; left: string[] }
  | { type: 'liveState'; ref: number; position: Position; states: LiveStateValue[] }
  | { type: 'editorOpened'; channel: number; accessRole: AccessRole }
  | { type: 'editorClosed'; channel: number; code: number; reason: string }
  /** A client or a backend added a version. */
  | { type: 'versionAdded'; channel: number; version: VersionInfo }
  /** A version was restored. The new content arrives as an update. */
  | { type: 'versionRestored'; channel: number; version: VersionInfo; restoredBy?: VersionUser }
  /** The list of versions may have changed. Read it again. */
  | { type: 'versionsChanged'; channel: number }
  /** A request succeeded and is durable. `position` answers `setLiveState`; the other fields answer requests about versions. */
  | {
      type: 'done'
      id: number
      position?: Position
      version?: VersionInfo
      versions?: VersionInfo[]
      nextPageToken?: string
    }
  /** The server refused a request. Without `id`: it refused a message that is not a request. */
  | { type: 'error'; id?: number; ref?: number; channel?: number; status: string; message: string }
  /** The server closes the connection soon. Connect again after this delay. */
  | { type: 'moved'; retryAfterMs: number }
  /** The token expires at `expiresAt` (Unix seconds). Send a new one. */
  | { type: 'tokenExpiring'; expiresAt: number }
  | { type: 'pong' }

/**
 * A binary frame begins with the channel and the kind, both as variable-length integers of lib0. From the client:
 *
 * | kind | content |
 * |---|---|
 * | syncStep1 | state vector (length-prefixed) |
 * | syncStep2 | number, update (length-prefixed) |
 * | update | number, update (length-prefixed) |
 * | awareness | awareness update of y-protocols (length-prefixed) |
 *
 * From the server: syncStep1, syncStep2, update and awareness without a number. `saved` has a number: the update with this
 * number and all earlier updates of the client are durable, except refused ones. `refused` has a number, the reason as a
 * string, and the status of the error as a string. The client chooses increasing numbers.
 */
export const editorFrames = {
  syncStep1: 0,
  syncStep2: 1,
  update: 2,
  awareness: 3,
  saved: 4,
  refused: 5,
} as const

/** Limits of one message from a client. */
export const limits = {
  /** Size of a message before the client is authenticated. */
  firstMessageBytes: 16_384,
  /** An update of 1 MiB and the bytes around it in a frame. */
  messageBytes: 1024 * 1024 + 65_536,
  jsonBytes: 1024 * 1024,
  /** Nesting levels of a JSON message. The message itself is the first. */
  jsonDepth: 64,
  /** Keys of a JSON message on all levels. The parser of V8 takes up to 2 microseconds per key. */
  jsonKeys: 10_000,
  /** Strings, arrays and objects of a JSON message; keys do not count. The parser takes half a microsecond for each. */
  jsonValues: 50_000,
  /** Characters of an id. */
  idLength: maxIdLength,
  /** Versions in one answer. */
  versionsPerPage: 100,
  /** Characters of the name of a version. */
  versionNameLength: maxShortNameLength,
  /** Characters of a page token. */
  pageTokenLength: maxPageTokenLength,
  /** The `data` of a user's presence, as JSON. */
  presenceBytes: 16_384,
  /** One awareness state, as JSON. */
  awarenessBytes: 16_384,
} as const
