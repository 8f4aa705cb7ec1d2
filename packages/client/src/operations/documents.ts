// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Outcome } from './organizations.ts'
import type { AccessType } from './api-key-config.ts'

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
  /** Display name of the document. */
  documentName?: string
  /** Id of the folder that contains the document. Absent if it is in no folder. */
  folderId?: string
  /** The access type that applies, set or inherited. */
  accessType: AccessType
  /** While true, users can neither read nor write the document. */
  disabled: boolean
  /** When it was created, as Unix time in milliseconds. */
  createdAt: number
  /** When it was last changed, as Unix time in milliseconds. */
  lastUpdated: number
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface DocumentAccessOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** The new access type. */
  accessType?: AccessType
  /** What happened to this item. */
  message: string
}

export interface DocumentDisableOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** The new state. */
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
  /** Reads only the documents directly in this folder. `root`: those in no folder. Ignored under v1. */
  folderId?: string
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
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
  /** Id of the folder to move them into. `root`: no folder. */
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

/** What people work on together. Documents can be moved, shut and migrated to another id. */
export interface DocumentsOperations {
  /**
   * Adds documents, in a folder or in none. Further keys of a document are kept as its metadata. Without
   * `accessType` a document inherits from its folder. If one exists already it is left as it is, the others
   * are added, and v2 answers `INTERNAL` with every outcome in `details`; v1 answers 200.
   *
   * `POST /v2/organizations/documents/add`
   */
  add(input: DocumentsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads documents: all, by id, or those of one folder. `accessType` is the one in force, inherited or not.
   * `folderId` selects the direct members of a folder; `root` the documents in no folder. If a requested id
   * does not exist, v2 answers `INTERNAL` with all of them in `details`, in the order of the request; v1
   * leaves it out. v1 returns up to 10,000 documents at once. Needs the option `useAdvancedQueries` of the
   * API key, which is on unless switched off.
   *
   * `POST /v2/organizations/documents/get`
   */
  get(input: DocumentsGetInput, options?: CallOptions): Promise<Result<DocumentRecord[]>>
  /**
   * Changes the name, the access type and the metadata of documents. Sent keys are merged into the stored
   * ones; `null` removes a key. `disabled` and the folder have operations of their own. If one does not exist
   * the others are changed, and v2 answers `INTERNAL` with every outcome in `details`; v1 answers 200.
   *
   * `POST /v2/organizations/documents/update`
   */
  update(input: DocumentsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes documents and everything inside them. If one does not exist the others are deleted, and v2
   * answers `INTERNAL` with every outcome in `details`; v1 answers 200.
   *
   * `POST /v2/organizations/documents/delete`
   */
  delete(input: DocumentsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Moves documents into a folder, all of them or none. `folderId: "root"` takes them out of any folder.
   * Inherited access follows the new folder.
   *
   * `POST /v2/organizations/documents/move`
   */
  move(input: DocumentsMoveInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Sets who may enter documents. The type is then the document’s own and no longer inherited from its
   * folder.
   *
   * `POST /v2/organizations/documents/access/update`
   */
  updateAccess(input: DocumentsUpdateAccessInput, options?: CallOptions): Promise<Result<Record<string, DocumentAccessOutcome>>>
  /**
   * Shuts documents for their users, or opens them again. While a document is disabled no user can read or
   * write it.
   *
   * `POST /v2/organizations/documents/access/disablestate/update`
   */
  updateDisableState(input: DocumentsUpdateDisableStateInput, options?: CallOptions): Promise<Result<Record<string, DocumentDisableOutcome>>>
  /**
   * Starts to move a document with all its data to another id. Runs in the background; ask
   * `documents.migrateStatus` how far it is. If the new id exists already the two are merged, and where both
   * have something of the same id the one of the new document stays. A migration that fails leaves the
   * document as it was. Clients that have the document open are closed with 4404 and the reason "The document
   * was moved to another id.": tell them the new id.
   *
   * `POST /v2/organizations/documents/migrate`
   */
  migrate(input: DocumentsMigrateInput, options?: CallOptions): Promise<Result<DocumentsMigrateOutput>>
  /**
   * Tells how far a migration is. `completed` and `failed` are final. Migrations that ended are known for at
   * least 30 days.
   *
   * `POST /v2/organizations/documents/migrate/status`
   */
  migrateStatus(input: DocumentsMigrateStatusInput, options?: CallOptions): Promise<Result<DocumentsMigrateStatusOutput>>
}
