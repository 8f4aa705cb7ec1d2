// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { PermissionResource } from './auth.ts'

export interface UserPermissions {
  /** What the user may do with folders, by their ids. */
  folders?: Record<string, Permission>
  /** What the user may do with documents, by their ids. */
  documents?: Record<string, Permission>
  /** What the user may do in the organization, by its id. */
  organization: Record<string, Permission>
}

export interface ResourceReference {
  /** Kind of the resource. */
  type: 'organization' | 'folder' | 'document'
  /** Id of the resource. */
  id: string
  /** The organization that holds the folder or document; ignored on an organization. */
  organizationId?: string
}

export interface Permission {
  /** What the user may do there: `viewer` reads, `editor` reads and writes. */
  accessRole?: 'viewer' | 'editor'
  /**
   * Who may enter. `public`: every user. `organizationPrivate`: users with a grant for the organization, the
   * folder or the document. `restricted`: users with a grant at or below the folder or document that sets the
   * type.
   */
  accessType?: 'public' | 'restricted' | 'organizationPrivate'
  /** When the permission ends, in Unix seconds. Absent: never. */
  expiresAt?: number
  /** Why the user may not enter, for people. */
  error?: string
  /** Why the user may not enter, as a word for programs. */
  errorCode?: 'does_not_exist' | 'permission_denied' | 'something_went_wrong'
}

export interface PermissionsAddInput {
  /** The user. */
  user?: {
    /** Id of the user. */
    userId?: string
  }
  /** May stand here instead of in `user`. */
  userId?: string
  /** What is permitted. */
  permissions: {
    /** The organizations, folders and documents. 1 to 500 items. */
    resources: PermissionResource[]
  }
}

export interface PermissionsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the users. 1 to 30 items. */
  userIds: string[]
  /** Ids of the folders. At most 30 items. */
  folderIds?: string[]
  /** Ids of the documents. At most 30 items. */
  documentIds?: string[]
  /** True: a folder or document that does not exist has an error in its entry, and the call succeeds. */
  skipResourceExistenceValidation?: boolean
}

export interface PermissionsRemoveInput {
  /** Id of the user. */
  userId?: string
  /** May hold the `userId` instead. */
  user?: {
    /** Id of the user. */
    userId?: string
  }
  /** What is permitted. */
  permissions: {
    /** The organizations, folders and documents. 1 to 500 items. */
    resources: ResourceReference[]
  }
}

/** What a user may do with organizations, folders and documents. */
export interface PermissionsOperations {
  /**
   * Lets a user into organizations, folders and documents. One grant for each user and resource: a second one
   * replaces role and expiry, also those of tokens that were issued before. The resources need not exist yet,
   * and a user who is unknown is created.
   *
   * `POST /v2/auth/permissions/add`
   */
  add(input: PermissionsAddInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Tells what users may do in an organization, its folders and documents. `accessType` is the effective one,
   * inherited or own. A user who may not enter is told so in the entry, and the call succeeds. A folder or
   * document that does not exist fails the call, with all entries in `details`, unless
   * `skipResourceExistenceValidation` is `true`: then the entry alone says so.
   *
   * `POST /v2/auth/permissions/get`
   */
  get(input: PermissionsGetInput, options?: CallOptions): Promise<Result<Record<string, UserPermissions>>>
  /**
   * Takes grants on organizations, folders and documents from a user. Removes what was granted on exactly
   * these resources, also by tokens that were issued before; a grant that is not there is not an error. A
   * user who loses an organization is in none of its groups any more. The profile stays. Removing a grant
   * does not close a `public` document to the user, and documents are `public` unless set otherwise: there, a
   * user without a grant may write, also one who was a viewer. Set `accessType` to `restricted` with
   * `documents.updateAccess` to keep users without a grant out.
   *
   * `POST /v2/auth/permissions/remove`
   */
  remove(input: PermissionsRemoveInput, options?: CallOptions): Promise<Result<null>>
}
