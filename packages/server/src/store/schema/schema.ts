import type { DeliveryMessageTable, DeliveryTable, DigestItemTable } from './delivery-tables.ts'
import type { ActivityTable } from './activity-tables.ts'
import type { ErasureTable } from './erasure-tables.ts'
import type {
  EditorClientTable,
  EditorSnapshotPartTable,
  EditorSnapshotTable,
  EditorTable,
  EditorUpdateTable,
  EditorVersionAuthorTable,
  EditorVersionPartTable,
  EditorVersionTable,
} from './editor-tables.ts'
import type {
  AnnotationTable,
  AnnotationUserTable,
  AnnotationViewTable,
  CommentReactionTable,
  CommentTable,
  EventTable,
  EventLogTable,
  EventNamesTable,
  PrunedEventTable,
  RemovedAnnotationTable,
} from './comment-tables.ts'
import type {
  NotificationConfigTable,
  NotificationRecipientTable,
  NotificationTable,
  PendingNotificationTable,
} from './notification-tables.ts'
import type { WebhookEndpointTable } from './webhook-tables.ts'

/**
 * The rows of every table. All types are portable: text, integers (booleans as 0/1), epoch milliseconds as numbers, JSON as
 * text, bytes as blobs. Tables below an API key begin with it, except `deletions`, which begins with an id of its own.
 */

export interface WorkspaceTable {
  workspace_id: string
  name: string
  owner_id: string
  owner_email: string
  owner_name: string
  owner_avatar: string
  /** Names the only valid token. The token itself is derived and never stored. */
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
  service: 'email' | 'webhook' | 'advancedWebhook' | 'notification' | 'activity' | 'permissionProvider'
  enabled: number
  /** JSON, without secrets. */
  config: string
  /** The sealed credential of the service provider. */
  secret: Uint8Array | null
}

export interface SigningKeyTable {
  key_id: string
  public_jwk: string
  /** The sealed JWK. */
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
  /** Null for a top-level folder. */
  parent_folder_id: string | null
  /** Null if inherited from the parent folder. */
  access_type: string | null
  created_at: number
  last_updated: number
}

export interface DocumentTable {
  api_key: string
  organization_id: string
  document_id: string
  /** Null if the document is in no folder. */
  folder_id: string | null
  /** Null if inherited from the folder. */
  access_type: string | null
  disabled: number
  /** JSON: documentName and the caller's own metadata. */
  data: string
  /** The number of the document's newest change. It is incremented under this row's lock. */
  event_seq: number
  /** The number of the newest annotation (comment thread). */
  annotation_number: number
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
  /** Lower-case address for look-ups; null if the profile has none. */
  email: string | null
  /** JSON: the stored profile. */
  profile: string
  created_at: number
  last_updated: number
}

/**
 * The membership, role and expiry of a user on one resource (spec 25.1). A removed grant stays for a while as an expired one,
 * because it overrides older tokens (spec 25.3).
 */
export interface GrantTable {
  api_key: string
  organization_id: string
  /**
   * The resource of a `context` grant is a field of the access context, as `key:value`. `inside` is never granted: a removed
   * `inside` grant removes the user from everything inside the organization.
   */
  resource_type: 'organization' | 'folder' | 'document' | 'context' | 'inside'
  resource_id: string
  user_id: string
  access_role: 'viewer' | 'editor'
  /** Unix seconds; 0 if the grant was removed. */
  expires_at: number | null
  /** When role and expiry were set or removed. For a grant that sign-in reads from a token: the token's time. */
  set_at: number
  /** When the role was sent. Null: with the grant. 0: never, so `access_role` is the default. */
  role_set_at: number | null
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
  /** JSON: the user's name and address as the caller sent them, and the look from the profile. */
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
  /** The number of the document's change that set this value. */
  seq: number
  updated_by: string
  last_updated: number
}

/** A deletion that takes more than one transaction and is not finished. */
export interface DeletionTable {
  api_key: string
  deletion_id: string
  /** JSON: what is deleted. */
  scope: string
  /** From this time on another server may continue the deletion. */
  leased_until: number
  created_at: number
}

/** The number of documents reserved on one day, for clients to create by opening them. */
export interface OpeningTable {
  api_key: string
  /** Days since 1970 (UTC). On a later day the count restarts. */
  day: number
  documents: number
}

export interface JobTable {
  api_key: string
  job_id: string
  /** Jobs of one lane run in the order in which they are due. */
  lane: string
  kind: string
  /** JSON, depending on the kind. */
  payload: string
  attempts: number
  /** How many times the job was claimed or rescheduled: a claim holds only while this number stays the same. */
  claims: number
  /** When the job is due. */
  run_at: number
  /** From this time on a server may claim the job: when it is due, or when its lease ends. */
  available_at: number
  created_at: number
}

export interface IdempotencyKeyTable {
  /** The API key, workspace or address that the idempotency key belongs to. */
  scope: string
  operation: string
  idempotency_key: string
  body_hash: string
  http_status: number
  /** The sealed answer, which may contain a token. */
  response: Uint8Array
  created_at: number
}

/** Calls of public operations from one address. */
export interface AddressCallTable {
  /** HMAC of the operation and the address of a client, which is not stored. */
  address_hash: string
  calls: number
  /** From then on they are counted anew. */
  ends_at: number
}

/** A link with which the owner of a workspace logs in. */
export interface LoginLinkTable {
  /** SHA-256 of the token in the link, which is not stored. */
  token_hash: string
  email: string
  created_at: number
}

/** Named locks, which transactions hold one after the other (PostgreSQL only). */
export interface LockTable {
  name: string
  /** How often the lock was taken. Incrementing it locks the row. */
  taken: number
  /** When the lock was taken last. */
  taken_at: number
}

/** What the open sessions of all servers are told. Only written if several servers can share the database. */
export interface SignalTable {
  api_key: string
  signal_id: string
  /** The server that made the change. Its own sessions know of it already. */
  server_id: string
  /** The id of the transaction that made the change, as PostgreSQL numbers it. */
  transaction_id: number
  /** JSON of a message of the bus. */
  message: string
  created_at: number
}

/** An import of a workspace that is not finished. */
export interface ImportTable {
  workspace_id: string
  /** The checksum of the export, so that another export of the workspace cannot continue the import. */
  sha256: string
  /** How many lines of the export are stored. */
  lines: number
  created_at: number
}

export interface Schema {
  workspaces: WorkspaceTable
  api_keys: ApiKeyTable
  auth_tokens: AuthTokenTable
  allowed_domains: AllowedDomainTable
  service_configs: ServiceConfigTable
  webhook_endpoints: WebhookEndpointTable
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
  annotations: AnnotationTable
  comments: CommentTable
  annotation_users: AnnotationUserTable
  comment_reactions: CommentReactionTable
  annotation_views: AnnotationViewTable
  removed_annotations: RemovedAnnotationTable
  events: EventTable
  pruned_events: PrunedEventTable
  event_log: EventLogTable
  event_names: EventNamesTable
  notifications: NotificationTable
  notification_recipients: NotificationRecipientTable
  notification_configs: NotificationConfigTable
  pending_notifications: PendingNotificationTable
  activities: ActivityTable
  deletions: DeletionTable
  openings: OpeningTable
  erasures: ErasureTable
  delivery_messages: DeliveryMessageTable
  deliveries: DeliveryTable
  digest_items: DigestItemTable
  jobs: JobTable
  idempotency_keys: IdempotencyKeyTable
  login_links: LoginLinkTable
  address_calls: AddressCallTable
  locks: LockTable
  signals: SignalTable
  imports: ImportTable
}
