// Derived from the table of operations by "npm run derive". Do not edit.
import type { WorkspaceOperations } from './workspace.ts'
import type { ApiKeysOperations } from './api-keys.ts'
import type { AuthTokensOperations } from './auth-tokens.ts'
import type { ApiKeyConfigOperations } from './api-key-config.ts'
import type { DomainsOperations } from './domains.ts'
import type { EmailConfigOperations } from './email-config.ts'
import type { AuthOperations } from './auth.ts'
import type { PermissionsOperations } from './permissions.ts'
import type { OrganizationsOperations } from './organizations.ts'
import type { FoldersOperations } from './folders.ts'
import type { DocumentsOperations } from './documents.ts'
import type { UsersOperations } from './users.ts'
import type { UserGroupsOperations } from './user-groups.ts'
import type { PresenceOperations } from './presence.ts'
import type { LiveStateOperations } from './live-state.ts'
import type { CrdtOperations } from './crdt.ts'
import type { CrdtVersionsOperations } from './crdt-versions.ts'
import type { NotificationsOperations } from './notifications.ts'

export type * from './workspace.ts'
export type * from './api-keys.ts'
export type * from './auth-tokens.ts'
export type * from './api-key-config.ts'
export type * from './domains.ts'
export type * from './email-config.ts'
export type * from './auth.ts'
export type * from './permissions.ts'
export type * from './organizations.ts'
export type * from './folders.ts'
export type * from './documents.ts'
export type * from './users.ts'
export type * from './user-groups.ts'
export type * from './presence.ts'
export type * from './live-state.ts'
export type * from './crdt.ts'
export type * from './crdt-versions.ts'
export type * from './notifications.ts'

/** Every operation of the interface, by family. */
export interface Operations {
  /** A workspace belongs to an owner and holds API keys. Creating one gives the first credentials. */
  readonly workspace: WorkspaceOperations
  /** Every record belongs to one API key; two keys of a workspace share nothing. */
  readonly apiKeys: ApiKeysOperations
  /** The secret that is sent together with an API key. */
  readonly authTokens: AuthTokensOperations
  /** The switches of an API key. */
  readonly apiKeyConfig: ApiKeyConfigOperations
  /** The web domains whose pages may use an API key. While the list is empty, all may. */
  readonly domains: DomainsOperations
  /** Whether and how an API key sends emails about activity. */
  readonly emailConfig: EmailConfigOperations
  /** Signed tokens that say who a user is and what the user may see and change. */
  readonly auth: AuthOperations
  /** What a user may do with organizations, folders and documents. */
  readonly permissions: PermissionsOperations
  /** The top of the tree: folders, documents and users belong to an organization. */
  readonly organizations: OrganizationsOperations
  /** Folders nest inside an organization, hold documents and may pass their access on. */
  readonly folders: FoldersOperations
  /** What people work on together. Documents can be moved, shut and migrated to another id. */
  readonly documents: DocumentsOperations
  /** The people of an organization, a folder or a document, with their roles. */
  readonly users: UsersOperations
  /** Named groups of the users of an organization. */
  readonly userGroups: UserGroupsOperations
  /** Who is at a document right now. */
  readonly presence: PresenceOperations
  /** Small shared state of a document, sent to everybody who has it open. */
  readonly liveState: LiveStateOperations
  /** The stored content of collaborative editors. */
  readonly crdt: CrdtOperations
  /** Named states of the content of an editor, to look at and to return to. */
  readonly crdtVersions: CrdtVersionsOperations
  /** What users find in their inbox, and what each of them wants to be told about. */
  readonly notifications: NotificationsOperations
}
