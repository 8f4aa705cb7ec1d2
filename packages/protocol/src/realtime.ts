import { maxIdLength, maxPageTokenLength, maxShortNameLength } from './base/limits.ts'

/**
 * What travels at `/realtime`, version 1. Text frames are JSON, one message each; binary frames carry editors. One socket
 * holds many documents, each under a `ref` that the client chooses, and many editors, each under a `channel`.
 */

/** Why the server ends a connection. 44xx: trying again changes nothing. All others: connect again and go on. */
export const closeCodes = {
  /** The server restarts or moves its clients; come back after a moment. */
  restarting: 1012,
  /** Too many bytes were waiting for this client. What it missed arrives when it connects again. */
  slow: 4008,
  /** A rate was exceeded; the reason names it. Come back after a minute. */
  rateLimited: 4029,
  /** The client sent something that is no message of this protocol. */
  badMessage: 4400,
  /** No token, an invalid or an expired one: get a new one and connect again. */
  unauthenticated: 4401,
  /** The user may not open this document, or not from this origin. */
  permissionDenied: 4403,
  /** The document does not exist any more. */
  gone: 4404,
  /** An update that is malformed or exceeds a bound. */
  invalidUpdate: 4422,
  /** Too many documents or editors: on one connection, in one document, or created in one day. */
  tooMany: 4429,
  /** The server could not store what it was sent; nothing of it was acknowledged. */
  unavailable: 4503,
} as const

export type CloseReason = keyof typeof closeCodes

export type Topic = 'presence' | 'liveState' | 'comments' | 'notifications'
export type OnlineStatus = 'online' | 'away' | 'offline'
export type AccessRole = 'viewer' | 'editor'

/** Statuses that a client may set for its user. */
export const onlineStatuses: readonly OnlineStatus[] = ['online', 'away', 'offline']

/**
 * A user in the presence list of a document: one entry, however many connections the user has. `data` is what the user's
 * client sent. The server does not check its shape, so `Data` is an assumption about the clients of the application.
 */
export interface PresentUser<Data extends object = Record<string, unknown>> {
  userId: string
  name?: string
  email?: string
  /** Address of a picture, from the token or the profile of the user. */
  photoUrl?: string
  /** CSS color, from the token or the profile; otherwise derived from the user id. The same for every client. */
  color: string
  onlineStatus: OnlineStatus
  /** What the user's client published with `presence.set`. */
  data?: Data
  /** `rest`: added by a backend. */
  source: 'client' | 'rest'
  /** Epoch milliseconds. */
  timestamp: number
}

export interface LiveStateValue {
  id: string
  liveStateDataId: string
  data: Record<string, unknown>
  /** Epoch milliseconds. */
  lastUpdated: number
  updatedBy: { userId: string }
}

/** A saved state of an editor, without its content. */
export interface VersionInfo {
  versionId: string
  name: string
  type: 'text' | 'map' | 'array' | 'xml'
  /** Epoch milliseconds. */
  createdAt: number
  /** Absent if a backend saved it without naming a user. */
  createdBy?: VersionUser
}

export interface VersionUser {
  userId: string
  name?: string
}

/** Where a client stands in the changes of a document. Another epoch means another document under the same id. */
export interface Position {
  epoch: string
  seq: number
}

export type ClientMessage =
  /** First message, unless the token is in the address; later, a fresh token of the same user. */
  | { type: 'auth'; token: string }
  /** A connection has each document open once. */
  | {
      type: 'open'
      ref: number
      organizationId: string
      documentId: string
      topics: Topic[]
      /** Only the changes after it are wanted. */
      since?: Position
    }
  | { type: 'close'; ref: number }
  /** Fields that are left out keep their value; `data: null` removes it. */
  | { type: 'setPresence'; ref: number; status?: OnlineStatus; data?: Record<string, unknown> | null }
  | {
      type: 'setLiveState'
      ref: number
      /** Comes back with the outcome. */
      id: number
      liveStateDataId: string
      data: Record<string, unknown>
      /** Lays the keys over the stored value instead of replacing it. */
      merge?: boolean
    }
  | {
      type: 'openEditor'
      ref: number
      channel: number
      editorId: string
      /** What the editor holds, for those who read it over REST; only counts when it does not exist yet. */
      contentType?: 'text' | 'map' | 'array' | 'xml'
      contentKey?: string
    }
  | { type: 'closeEditor'; channel: number }
  /** The versions of an open editor, the newest first. The answer has `versions`, and `nextPageToken` if there are more. */
  | { type: 'listVersions'; channel: number; id: number; pageSize?: number; pageToken?: string }
  /** Saves the content of the editor, with all updates sent before, as a version. The answer has `version`. */
  | { type: 'addVersion'; channel: number; id: number; name: string }
  | { type: 'restoreVersion'; channel: number; id: number; versionId: string }
  /** Answered by `pong`; browsers cannot send the protocol's own. */
  | { type: 'ping' }

export type ServerMessage =
  /** The token is good until `expiresAt` (Unix seconds). */
  | { type: 'ready'; connectionId: string; userId: string; expiresAt: number }
  | {
      type: 'opened'
      ref: number
      accessRole: AccessRole
      position: Position
      /** True: what follows is everything, forget what you had. False: these are the changes since your position. */
      reset: boolean
      presence?: PresentUser[]
      liveStates?: LiveStateValue[]
    }
  /** The document is closed for this client, for good where the code is 44xx. */
  | { type: 'closed'; ref: number; code: number; reason: string }
  /** The role changed while the document was open. */
  | { type: 'access'; ref: number; accessRole: AccessRole }
  | { type: 'presence'; ref: number; users: PresentUser[]; left: string[] }
  | { type: 'liveState'; ref: number; position: Position; states: LiveStateValue[] }
  | { type: 'editorOpened'; channel: number; accessRole: AccessRole }
  | { type: 'editorClosed'; channel: number; code: number; reason: string }
  /** A version was added, by a client or by a backend. */
  | { type: 'versionAdded'; channel: number; version: VersionInfo }
  /** A version was restored. The new content comes as an update. */
  | { type: 'versionRestored'; channel: number; version: VersionInfo; restoredBy?: VersionUser }
  /** The list of versions may have changed in any way: read it again. */
  | { type: 'versionsChanged'; channel: number }
  /** A request is done and durable. `position` answers `setLiveState`; the others answer requests about versions. */
  | {
      type: 'done'
      id: number
      position?: Position
      version?: VersionInfo
      versions?: VersionInfo[]
      nextPageToken?: string
    }
  /** A request, or without `id` a message, was refused. */
  | { type: 'error'; id?: number; ref?: number; channel?: number; status: string; message: string }
  /** Connect again after so long; the server is about to close. */
  | { type: 'moved'; retryAfterMs: number }
  /** The token ends at `expiresAt` (Unix seconds): send a fresh one. */
  | { type: 'tokenExpiring'; expiresAt: number }
  | { type: 'pong' }

/**
 * Binary frames begin with the channel and the kind, both as variable-length integers of lib0. From the client:
 *
 * | kind | then |
 * |---|---|
 * | syncStep1 | state vector (length-prefixed) |
 * | syncStep2 | number, update (length-prefixed) |
 * | update | number, update (length-prefixed) |
 * | awareness | awareness update of y-protocols (length-prefixed) |
 *
 * From the server: syncStep1, syncStep2, update and awareness without a number; `saved` with the number of the newest
 * update that is durable, and all of that client before it; `refused` with a number, a string that says why, and
 * the status of the error as another string. Numbers are the client's own and increase.
 */
export const editorFrames = {
  syncStep1: 0,
  syncStep2: 1,
  update: 2,
  awareness: 3,
  saved: 4,
  refused: 5,
} as const

/** Bounds of one frame from a client. */
export const limits = {
  /** Before the client is known. */
  firstMessageBytes: 16_384,
  /** An update of 1 MiB and what is around it. */
  messageBytes: 1024 * 1024 + 65_536,
  jsonBytes: 1024 * 1024,
  /** Levels of a message; the message itself is the first. */
  jsonDepth: 64,
  /** Keys of a message, its own included. The parser of V8 takes up to 2 microseconds a key. */
  jsonKeys: 10_000,
  /** Strings that are no keys, arrays and objects of a message. The parser takes half a microsecond for each. */
  jsonValues: 50_000,
  /** Characters of an id. */
  idLength: maxIdLength,
  /** Versions in one answer. */
  versionsPerPage: 100,
  /** Characters of the name of a version. */
  versionNameLength: maxShortNameLength,
  /** Characters of a page token. */
  pageTokenLength: maxPageTokenLength,
  /** The data of a presence, as JSON. */
  presenceBytes: 16_384,
  /** One awareness state, as JSON. */
  awarenessBytes: 16_384,
} as const
