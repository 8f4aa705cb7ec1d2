import { maxIdLength, maxPageTokenLength, maxShortNameLength } from './base/limits.ts'
import type { PresenceEntry } from './messages/types/shared.ts'

/**
 * What clients of `/realtime` need, without the schemas of its messages, which are in `messages/`: the client bundles this
 * file. A text frame is one JSON message; a binary frame is a message of an editor. One socket carries many documents, each
 * with a `ref` that the client chooses, and many editors, each with a `channel`.
 */
export type * from './messages/types/client-messages.ts'
export type * from './messages/types/server-messages.ts'
export type * from './messages/types/shared.ts'

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

/** The statuses that a client can set for its user. */
export const onlineStatuses = ['online', 'away', 'offline'] as const

/**
 * A user in the presence list of a document. A user with several connections has one entry. The server does not validate
 * the shape of `data`, so `Data` is an assumption about the clients of your application.
 */
export interface PresentUser<Data extends object = Record<string, unknown>> extends Omit<
  PresenceEntry,
  'data'
> {
  /** The data that a client of the user set with `presence.set`. */
  data?: Data
}

/**
 * The kinds of binary frames. A frame begins with the channel and the kind, both as variable-length integers of lib0.
 * `messages/editor-frames.ts` says what follows.
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
  /** The fields of a JSON message, without `data`. */
  fieldsBytes: 32 * 1024,
  /** Nesting levels of a JSON message. The message itself is the first. */
  jsonDepth: 64,
  /** Keys of a JSON message on all levels. The parser of V8 takes up to 2 microseconds per key. */
  jsonKeys: 10_000,
  /** Strings, arrays and objects of a JSON message; keys do not count. The parser takes half a microsecond for each. */
  jsonValues: 50_000,
  /** Characters of an id. */
  idLength: maxIdLength,
  /** Inboxes that a connection has open. */
  inboxes: 100,
  /** Lists of documents and people that a connection has open. */
  lists: 100,
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
