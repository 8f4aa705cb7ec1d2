// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { Outcome } from './organizations.ts'
import type { AccessType } from './api-key-config.ts'
import type { AccessRole } from './auth.ts'

export interface DocumentInput {
  /** Id of the document. */
  documentId: string
  /** Display name of the document. At most 1,000 characters. */
  documentName?: string
  /**
   * Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the
   * folder or the document. `restricted`: users with a grant on the folder or document where the type was
   * set, or below it.
   */
  accessType?: AccessType
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface DocumentRecord {
  /** Id of the document. */
  id: string
  /** Id of the document, under the name that it has in requests. */
  documentId: string
  /** Display name of the document. */
  documentName?: string
  /** Id of the folder that contains the document. Absent if it is in no folder. */
  folderId?: string
  /** The access type that applies, set or inherited. */
  accessType: AccessType
  /** While true, users can neither read nor write the document. */
  disabled: boolean
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface ListedDocument {
  /** Id of the document. */
  documentId: string
  /** Display name of the document. */
  documentName?: string
  /** Id of the folder that contains the document. Absent if it is in no folder. */
  folderId?: string
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole: AccessRole
  /** When the access may end, in Unix seconds. Absent: not by itself. */
  accessUntil?: number
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
}

export interface DocumentAccessOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** The new access type of the document. */
  accessType?: AccessType
  /** What happened to this item. */
  message: string
}

export interface DocumentDisableOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Whether the document is now disabled. */
  disabled?: boolean
  /** What happened to this item. */
  message: string
}

/** State of the migration. `completed` and `failed` are final. */
export type MigrationStatus = 'pending' | 'in_progress' | 'completed' | 'failed'

export interface DocumentsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Whether to create the organization if it does not exist. Default: false. Ignored under v1. */
  createOrganization?: boolean
  /** The documents to add. From 1 to 500 items. */
  documents: DocumentInput[]
  /** Id of the folder that contains the documents. Default: `root`, no folder. */
  folderId?: string
  /** Whether to create the folder if it does not exist. Default: false. Ignored under v1. */
  createFolder?: boolean
}

export interface DocumentsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the documents to read. Default: all. At most 30 items. */
  documentIds?: string[]
  /**
   * Reads only the documents directly in this folder. `root`: the documents in no folder. Ignored under v1.
   */
  folderId?: string
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface DocumentsListInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user. Required without a user token, otherwise the user of the token. */
  userId?: string
  /** Only documents with these ids. Default: all. At most 30 items. */
  documentIds?: string[]
  /** Maximum number of items on the page. Default: 50. From 1 to 200. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface DocumentsUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** The documents to change, with the keys to change. From 1 to 500 items. */
  documents: DocumentInput[]
}

export interface DocumentsDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the documents to delete. From 1 to 500 items. */
  documentIds: string[]
}

export interface DocumentsMoveInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the documents to move. From 1 to 30 items. */
  documentIds: string[]
  /** Id of the folder to move the documents into. `root`: no folder. */
  folderId: string
}

export interface DocumentsUpdateAccessInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the documents to change. From 1 to 500 items. */
  documentIds: string[]
  /**
   * Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the
   * folder or the document. `restricted`: users with a grant on the folder or document where the type was
   * set, or below it.
   */
  accessType: AccessType
}

export interface DocumentsUpdateDisableStateInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the documents to change. From 1 to 500 items. */
  documentIds: string[]
  /** While true, users can neither read nor write the document. */
  disabled: boolean
}

export interface DocumentsMigrateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** The new id of the document. */
  newDocumentId: string
}

export interface DocumentsMigrateOutput {
  /** Id of the migration. */
  migrationId: string
}

export interface DocumentsMigrateStatusInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the migration, from `documents.migrate`. */
  migrationId: string
}

export interface DocumentsMigrateStatusOutput {
  /** Id of the migration. */
  migrationId: string
  /** State of the migration. `completed` and `failed` are final. */
  status: MigrationStatus
}

/** What users edit together. Documents can be moved, disabled and migrated to another id. */
export interface DocumentsOperations {
  /**
   * Adds documents, in a folder or in none. Further keys of a document are stored as its metadata. Without
   * `accessType`, a document inherits from its folder. A document that exists stays unchanged and the others
   * are added; v2 then answers `INTERNAL` with all outcomes in `details`, and v1 answers 200.
   *
   * `POST /v2/organizations/documents/add`
   */
  add(input: DocumentsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads documents: all, by id, or by folder. `accessType` is the type that applies, set or inherited. If a
   * requested id does not exist, v2 answers `INTERNAL` with all results in `details`, in the order of the
   * request, and v1 leaves it out. v1 has no pages and returns up to 10,000 documents. Requires the option
   * `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/organizations/documents/get`
   */
  get(input: DocumentsGetInput, options?: CallOptions): Promise<Result<DocumentRecord[]>>
  /**
   * Lists the documents of an organization that a user can open. With a user token: those that the user of
   * the token can open. With the credentials of the API key: those that the user `userId` can open, by stored
   * grants. The newest documents come first. A page may have fewer documents than `pageSize`, or none,
   * although others follow: read on while there is a `nextPageToken`. If the API key has a permission
   * provider, it is asked about each document that the page considers. Requires the option
   * `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/organizations/documents/list`
   */
  list(input: DocumentsListInput, options?: CallOptions): Promise<Result<ListedDocument[]>>
  /**
   * Changes the name, the access type and the metadata of documents. Sent keys are merged into the stored
   * ones; `null` removes a key. `documents.updateDisableState` changes `disabled`, and `documents.move` the
   * folder. If a document does not exist, the others are changed; v2 then answers `INTERNAL` with all
   * outcomes in `details`, and v1 answers 200.
   *
   * `POST /v2/organizations/documents/update`
   */
  update(input: DocumentsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes documents and everything inside them. If a document does not exist, the others are deleted; v2
   * then answers `INTERNAL` with all outcomes in `details`, and v1 answers 200.
   *
   * `POST /v2/organizations/documents/delete`
   */
  delete(input: DocumentsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Moves documents into a folder, all or none. `folderId: "root"` moves the documents out of their folders.
   * Inherited access follows the new folder.
   *
   * `POST /v2/organizations/documents/move`
   */
  move(input: DocumentsMoveInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Sets the access type of documents. The documents no longer inherit the type from their folder.
   *
   * `POST /v2/organizations/documents/access/update`
   */
  updateAccess(input: DocumentsUpdateAccessInput, options?: CallOptions): Promise<Result<Record<string, DocumentAccessOutcome>>>
  /**
   * Disables documents for their users, or enables them again. While a document is disabled, users can
   * neither read nor write it.
   *
   * `POST /v2/organizations/documents/access/disablestate/update`
   */
  updateDisableState(input: DocumentsUpdateDisableStateInput, options?: CallOptions): Promise<Result<Record<string, DocumentDisableOutcome>>>
  /**
   * Starts to move a document with all its data to a new id. The migration runs in the background;
   * `documents.migrateStatus` reads its state. If the new id exists, the two documents are merged: where both
   * contain an item with the same id, the item of the new document stays. A failed migration leaves the
   * document unchanged. Clients that have the document open are closed with code 4404 and the reason "The
   * document was moved to another id." Give them the new id.
   *
   * `POST /v2/organizations/documents/migrate`
   */
  migrate(input: DocumentsMigrateInput, options?: CallOptions): Promise<Result<DocumentsMigrateOutput>>
  /**
   * Reads the state of a migration. `completed` and `failed` are final. A finished migration can be read for
   * at least 30 days.
   *
   * `POST /v2/organizations/documents/migrate/status`
   */
  migrateStatus(input: DocumentsMigrateStatusInput, options?: CallOptions): Promise<Result<DocumentsMigrateStatusOutput>>
}
