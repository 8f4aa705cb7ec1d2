import type {
  NotificationConfigTable,
  NotificationRecipientTable,
  NotificationTable,
} from './notification-tables.ts'

/**
 * Rows as they are stored. Portable types only: text, integers (booleans as 0/1), epoch milliseconds as
 * numbers, JSON as text, bytes as blobs. Every table of a tenant begins with its API key.
 */

export interface WorkspaceTable {
  workspace_id: string
  name: string
  owner_id: string
  owner_email: string
  owner_name: string
  owner_avatar: string
  /** Names the one token that is valid; the token itself is derived, never stored. */
  token_id: string
  token_issued_at: number
  created_at: number
}

export interface ApiKeyTable {
  api_key: string
  workspace_id: string
  name: string
  type: 'testing' | 'production'
  owner_email: string
  /** JSON of ApiKeyOptions. */
  options: string
  created_at: number
}

export interface AuthTokenTable {
  api_key: string
  token_id: string
  name: string
  /** JSON array of domains. */
  domains: string
  issued_at: number
}

export interface AllowedDomainTable {
  api_key: string
  domain: string
  position: number
}

export interface ServiceConfigTable {
  api_key: string
  service: 'email' | 'webhook' | 'notification'
  enabled: number
  /** JSON, without secrets. */
  config: string
  /** The sealed credential of the provider. */
  secret: Uint8Array | null
}

export interface SigningKeyTable {
  key_id: string
  public_jwk: string
  /** Sealed JWK. */
  private_jwk: Uint8Array
  created_at: number
}

export interface OrganizationTable {
  api_key: string
  organization_id: string
  disabled: number
  /** JSON: organizationName and the caller's own metadata. */
  data: string
  created_at: number
  last_updated: number
}

export interface FolderTable {
  api_key: string
  organization_id: string
  folder_id: string
  folder_name: string
  /** Null at the top. */
  parent_folder_id: string | null
  /** Own access type; null inherits. */
  access_type: string | null
  created_at: number
  last_updated: number
}

export interface DocumentTable {
  api_key: string
  organization_id: string
  document_id: string
  /** Null at root. */
  folder_id: string | null
  /** Explicit access type; null inherits from the folder. */
  access_type: string | null
  disabled: number
  /** JSON: documentName and the caller's own metadata. */
  data: string
  /** Number of the newest change that clients of the document follow; counted under this row's lock. */
  event_seq: number
  created_at: number
  last_updated: number
}

export interface MigrationTable {
  api_key: string
  organization_id: string
  migration_id: string
  document_id: string
  new_document_id: string
  status: 'pending' | 'in_progress' | 'completed' | 'failed'
  created_at: number
  last_updated: number
}

export interface UserTable {
  api_key: string
  user_id: string
  /** Lower-case address, for look-ups; null when the profile has none. */
  email: string | null
  /** JSON: the profile as it is read. */
  profile: string
  created_at: number
  last_updated: number
}

/**
 * A user at a level: membership, role and expiry in one row (spec 25.1). What was removed stays for a while as a grant
 * that has expired, because it counts against tokens that are older (spec 25.3).
 */
export interface GrantTable {
  api_key: string
  organization_id: string
  /** `inside` is never granted: removed, it stands for everything that the organization holds. */
  resource_type: 'organization' | 'folder' | 'document' | 'inside'
  resource_id: string
  user_id: string
  access_role: 'viewer' | 'editor'
  /** Unix seconds; 0 if it was removed. */
  expires_at: number | null
  /** When role and expiry were last set, or removed. What sign-in takes from a token has the token's time. */
  set_at: number
  created_at: number
}

export interface UserGroupTable {
  api_key: string
  organization_id: string
  group_id: string
  group_name: string
  created_at: number
}

export interface UserGroupMemberTable {
  api_key: string
  organization_id: string
  group_id: string
  user_id: string
  created_at: number
}

export interface PresenceTable {
  api_key: string
  organization_id: string
  document_id: string
  user_id: string
  source: 'rest'
  status: 'online' | 'away' | 'offline'
  /** JSON: what the caller said of the user. */
  data: string
  last_updated: number
}

export interface LiveStateTable {
  api_key: string
  organization_id: string
  document_id: string
  live_state_data_id: string
  /** JSON object. */
  data: string
  /** The change of the document that set it. */
  seq: number
  updated_by: string
  last_updated: number
}

export interface EditorTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  /** What the root holds and its name; null as long as nobody has said so. */
  type: 'text' | 'map' | 'array' | 'xml' | null
  content_key: string | null
  /** Number of the newest update; counted under this row's lock. */
  seq: number
  /** The snapshot holds every update up to this one. */
  snapshot_seq: number
  last_updated: number
  last_updated_by: string
  session_id: string | null
  created_at: number
}

/** Apart from the editor's row, which every update rewrites. */
export interface EditorSnapshotTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  /** The first part of the snapshot, mostly all of it. */
  bytes: Uint8Array
  parts: number
  /** Names the other parts; null if there are none. */
  snapshot_id: string | null
}

/** Further parts of large snapshots. Those of another `snapshot_id` than the snapshot has are not used. */
export interface EditorSnapshotPartTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  snapshot_id: string
  /** From 1. */
  part: number
  bytes: Uint8Array
}

/** Append-only. */
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

/** Whose a Yjs client id is: the user who wrote with it first. */
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
  /** What the root held and its name, as far as it could be told. */
  type: NonNullable<EditorTable['type']>
  content_key: string
  created_at: number
  /** The whole state as one Yjs update, or its first part. Lists need not read past it. */
  bytes: Uint8Array
  parts: number
}

/** Who saved a version; versions of backends that name nobody have no row. */
export interface EditorVersionAuthorTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  version_id: string
  /** JSON: `userId`, and `name` if it was known. */
  author: string
}

/** Further parts of large versions. */
export interface EditorVersionPartTable {
  api_key: string
  organization_id: string
  document_id: string
  editor_id: string
  version_id: string
  /** From 1. */
  part: number
  bytes: Uint8Array
}

/** A deletion that takes more than one transaction, until it is finished. `scope` is JSON: what is deleted. */
export interface DeletionTable {
  deletion_id: string
  api_key: string
  scope: string
  /** Another server may carry it on from this time. */
  leased_until: number
  created_at: number
}

/** How many documents clients created by opening them. */
export interface OpeningTable {
  api_key: string
  /** Days since 1970 (UTC); on a later day the count begins anew. */
  day: number
  documents: number
}

export interface JobTable {
  job_id: string
  api_key: string
  kind: string
  /** JSON. */
  payload: string
  attempts: number
  run_at: number
  /** Another worker may claim the job from this time on. */
  leased_until: number
  created_at: number
}

export interface IdempotencyKeyTable {
  /** The API key, workspace or address that the key belongs to. */
  scope: string
  operation: string
  idempotency_key: string
  body_hash: string
  http_status: number
  /** Sealed answer: it may carry a token. */
  response: Uint8Array
  created_at: number
}

/** Names that transactions take in turn (PostgreSQL only). */
export interface LockTable {
  name: string
  taken: number
}

export interface Schema {
  workspaces: WorkspaceTable
  api_keys: ApiKeyTable
  auth_tokens: AuthTokenTable
  allowed_domains: AllowedDomainTable
  service_configs: ServiceConfigTable
  signing_keys: SigningKeyTable
  organizations: OrganizationTable
  folders: FolderTable
  documents: DocumentTable
  document_migrations: MigrationTable
  users: UserTable
  grants: GrantTable
  user_groups: UserGroupTable
  user_group_members: UserGroupMemberTable
  presence: PresenceTable
  live_states: LiveStateTable
  editors: EditorTable
  editor_snapshots: EditorSnapshotTable
  editor_snapshot_parts: EditorSnapshotPartTable
  editor_updates: EditorUpdateTable
  editor_clients: EditorClientTable
  editor_versions: EditorVersionTable
  editor_version_parts: EditorVersionPartTable
  editor_version_authors: EditorVersionAuthorTable
  notifications: NotificationTable
  notification_recipients: NotificationRecipientTable
  notification_configs: NotificationConfigTable
  deletions: DeletionTable
  openings: OpeningTable
  jobs: JobTable
  idempotency_keys: IdempotencyKeyTable
  locks: LockTable
}
