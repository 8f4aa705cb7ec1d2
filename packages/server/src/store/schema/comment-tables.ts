/** A thread of comments. */
export interface AnnotationTable {
  api_key: string
  organization_id: string
  document_id: string
  /** The number of the annotation in its document. The other tables refer to it, because ids are long. */
  number: number
  annotation_id: string
  /** The number of the document's change that changed this annotation last. */
  seq: number
  /** The number of the document's change that added it. */
  created_seq: number
  /** The number of the document's change that changed last who may see it. */
  audience_seq: number
  author_id: string
  assignee_id: string | null
  resolved_by: string | null
  status_id: string
  location_id: string | null
  /** How many comments there are. */
  comments: number
  /** The size of all comments as JSON, and 1 KiB for each mention. */
  comment_bytes: number
  /** The position of the newest comment. Positions are never used again. */
  last_position: number
  /** The number of the document's change that added the newest comment, and the author of that comment. */
  last_comment_seq: number
  last_comment_by: string
  /** As `last_comment_seq`, for the newest comment of any other author; 0 if there is none. */
  other_comment_seq: number
  /** JSON of Audience; null if everyone who can read the document may see the annotation. */
  audience: string | null
  /** JSON of AnnotationData. */
  data: string
  created_at: number
  last_updated: number
}

export interface CommentTable {
  api_key: string
  organization_id: string
  document_id: string
  number: number
  comment_id: number
  /** The order of the comments. */
  position: number
  /** The number of the document's change that added the comment. */
  seq: number
  author_id: string
  /** JSON of CommentContent. */
  data: string
  created_at: number
  last_updated: number
}

/** How a user is related to an annotation. `subscribed` and `unsubscribed` are the user's own choice. */
export type Involvement = 'commented' | 'mentioned' | 'assigned' | 'subscribed' | 'unsubscribed'

export interface AnnotationUserTable {
  api_key: string
  organization_id: string
  document_id: string
  number: number
  user_id: string
  involvement: Involvement
}

export interface CommentReactionTable {
  api_key: string
  organization_id: string
  document_id: string
  number: number
  comment_id: number
  icon: string
  user_id: string
  created_at: number
}

/** When a user last looked at an annotation. */
export interface AnnotationViewTable {
  api_key: string
  organization_id: string
  document_id: string
  user_id: string
  number: number
  /** The number of the document's newest change at that time. */
  viewed_seq: number
  viewed_at: number
}

/** An annotation that was deleted, for clients that saw it before. */
export interface RemovedAnnotationTable {
  api_key: string
  organization_id: string
  document_id: string
  annotation_id: string
  seq: number
  /** The audience that it had; null if everyone who can read the document. */
  audience: string | null
}

/** The event log of all API keys. A reader follows `(transaction_id, event_id)`. */
export interface EventTable {
  /** The database assigns it. */
  event_id: number
  api_key: string
  /**
   * PostgreSQL: the id of the transaction that wrote the event, counted from `first_transaction_id`. Readers wait until no
   * older transaction is in progress, so a late commit is never skipped. SQLite commits in the order of `event_id`, so this
   * is 0.
   */
  transaction_id: number
  name: string
  organization_id: string | null
  document_id: string | null
  annotation_id: string | null
  actor_id: string | null
  /** JSON of Audience, as it was then. */
  audience: string | null
  /** Whether the event notifies users and calls webhooks (1), or was written by a backend that did not ask for it (0). */
  notifies: number
  /** JSON, depending on the name. */
  payload: string
  created_at: number
  /** See `event-snapshots.ts`. Null: the payload has everything. */
  snapshot_id: string | null
}

/** The newest event of an API key that was removed because of its age. */
export interface PrunedEventTable {
  api_key: string
  transaction_id: number
  event_id: number
}

/** The PostgreSQL server that numbers the transactions of the event log: one row (PostgreSQL only). */
export interface EventLogTable {
  /** Identifies the server and its history. */
  server: string
  /** Is added to the ids of this server's transactions, so that they are above those of the servers before. */
  first_transaction_id: number
}

/** How callers see events. One row, once a server has started. */
export interface EventNamesTable {
  names_id: string
  /** The sealed secret with which positions are encrypted and ids are made. Null: no server has needed it yet. */
  secret: Uint8Array | null
  /** The newest event and transaction when positions began to be encrypted. Null: there was none. */
  plain_transaction_id: number | null
  plain_event_id: number | null
}
