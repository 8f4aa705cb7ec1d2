export interface EditorTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  /** The type of the root; null until a client or backend declares it. */
  type: 'text' | 'map' | 'array' | 'xml' | null
  /** The name of the root; null until a client or backend declares it. */
  content_key: string | null
  /** The number of the newest update. It is incremented under this row's lock. */
  seq: number
  /** The number of the newest update in the snapshot; 0 without a snapshot. */
  snapshot_seq: number
  last_updated: number
  last_updated_by: string
  session_id: string | null
  created_at: number
}

/** The snapshot of an editor. It has its own table, because every update rewrites the editor's row. */
export interface EditorSnapshotTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  /** The first part of the snapshot. Most snapshots have only one. */
  bytes: Uint8Array
  /** How many parts there are, including the first. */
  parts: number
  /** Names the other parts; null if there are none. */
  snapshot_id: string | null
}

/** Further parts of large snapshots. Parts with another `snapshot_id` than the snapshot's are not used. */
export interface EditorSnapshotPartTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  snapshot_id: string
  /** Counted from 1. Part 0 is in `editor_snapshots`. */
  part: number
  bytes: Uint8Array
}

/** The log of an editor. Rows are appended, and deleted only by a compaction or with the editor. */
export interface EditorUpdateTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  seq: number
  bytes: Uint8Array
  user_id: string
  created_at: number
}

/** The owner of a Yjs client id: the user who first wrote with it. */
export interface EditorClientTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  client_id: number
  user_id: string
}

export interface EditorVersionTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  version_id: string
  name: string
  /** The type of the root when the version was saved. */
  type: NonNullable<EditorTable['type']>
  /** The name of the root when the version was saved. */
  content_key: string
  created_at: number
  /**
   * The whole state as one Yjs update, or the first part of a large one. Lists use only columns before this one: to read a
   * later column, SQLite walks over all of the bytes.
   */
  bytes: Uint8Array
  /** How many parts there are, including the first. */
  parts: number
}

/** The user who saved a version. A version that a backend saved without a user has no row. */
export interface EditorVersionAuthorTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  version_id: string
  /** JSON: `userId`, and `name` if it is known. */
  author: string
}

/** Further parts of large versions. */
export interface EditorVersionPartTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  version_id: string
  /** Counted from 1. Part 0 is in `editor_versions`. */
  part: number
  bytes: Uint8Array
}
