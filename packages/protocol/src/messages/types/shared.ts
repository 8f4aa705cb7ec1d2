// Derived from the messages of /realtime by "npm run derive". Do not edit.

/** What to subscribe to. */
export type Topic = 'presence' | 'liveState' | 'comments'

/** The last change of a document that a client has received. */
export interface Position {
  /**
   * Another epoch is another document under the same id, created after the first one was deleted or moved. At
   * most 1,000 characters.
   */
  epoch: string
  /** Number of the change. At least 0. */
  seq: number
}

/** The status that other users see. */
export type OnlineStatus = 'online' | 'away' | 'offline'

/** Type of the content. */
export type CrdtType = 'text' | 'map' | 'array' | 'xml'

/** What the user may do: a `viewer` reads, an `editor` reads and writes. */
export type AccessRole = 'viewer' | 'editor'

/** A user in the presence list of a document. A user with several connections has one entry. */
export interface PresenceEntry {
  /** Id of the user, from the token or a backend. */
  userId: string
  /** Display name of the user, from the token or a backend. */
  name?: string
  /** Email address of the user, from the token or a backend. */
  email?: string
  /** URL of a picture, from the token or the profile of the user. */
  photoUrl?: string
  /** CSS color, the same for every client: from the token or the profile, or derived from the user id. */
  color: string
  /**
   * The status. With several clients of the user: `online` if one of them is online, otherwise `away` if one
   * is away.
   */
  onlineStatus: OnlineStatus
  /** The data that a client of the user set: of several clients, the one that was active last. */
  data?: Record<string, unknown>
  /** `rest`: a backend wrote the latest update of the entry. */
  source: 'client' | 'rest'
  /** When the entry last changed, as Unix time in milliseconds. */
  timestamp: number
}

export interface LiveStateValue {
  /** Id that the server derives from `liveStateDataId`. */
  id: string
  /** Id of the live state inside the document. */
  liveStateDataId: string
  /** The value. */
  data: Record<string, unknown>
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
  /** Who made the last change. */
  updatedBy: LiveStateAuthor
}

export interface ThreadChanges {
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

export interface VersionInfo {
  /** Id of the version. */
  versionId: string
  /** Display name of the version. */
  name: string
  /** Type of the content. */
  type: CrdtType
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** The user who saved the version. Absent if a backend saved it without `userId`. */
  createdBy?: VersionUser
}

export interface VersionUser {
  /** Id of the user. */
  userId: string
  /** Display name of the user at the time of saving. Absent if it was unknown. */
  name?: string
}

export interface LiveStateAuthor {
  /** Id of the user. `rest-api`: a backend changed the value. */
  userId: string
}
