// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { PermissionResource, AccessRole, ResourceType } from './auth.ts'
import type { AccessType } from './api-key-config.ts'

export interface UserReference {
  /** Id of the user. */
  userId?: string
}

export interface PermissionsToAdd {
  /** The organizations, folders and documents, with the roles to grant. From 1 to 500 items. */
  resources: PermissionResource[]
}

export interface UserPermissions {
  /** The permissions on the folders, by id. Present when `folderIds` was sent. */
  folders?: Record<string, Permission>
  /** The permissions on the documents, by id. Present when `documentIds` was sent. */
  documents?: Record<string, Permission>
  /** The permission on the organization, by id. */
  organization: Record<string, Permission>
}

export interface PermissionsToRemove {
  /** The organizations, folders and documents whose grants to remove. From 1 to 500 items. */
  resources: ResourceReference[]
}

export interface Permission {
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole?: AccessRole
  /** The access type that applies, set or inherited. */
  accessType?: AccessType
  /** When the permission expires, in Unix seconds. Absent: never. */
  expiresAt?: number
  /** Why the user has no access, for people. */
  error?: string
  /** Why the user has no access, for programs. */
  errorCode?: PermissionErrorCode
}

export interface ResourceReference {
  /** Kind of the resource. */
  type: ResourceType
  /** Id of the resource. */
  id: string
  /**
   * Id of the organization that contains the folder or document. Required for both, ignored for an
   * organization.
   */
  organizationId?: string
}

/** Why the user has no access, for programs. */
export type PermissionErrorCode = 'does_not_exist' | 'permission_denied' | 'something_went_wrong'

export interface PermissionsAddInput {
  /** The user, instead of `userId`. */
  user?: UserReference
  /** Id of the user, instead of `user`. */
  userId?: string
  /** What to permit. */
  permissions: PermissionsToAdd
}

export interface PermissionsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the users. From 1 to 30 items. */
  userIds: string[]
  /** Ids of the folders. Default: none. At most 30 items. */
  folderIds?: string[]
  /** Ids of the documents. Default: none. At most 30 items. */
  documentIds?: string[]
  /**
   * True: the call succeeds if a folder or document does not exist, with an error in its entry. Default:
   * false.
   */
  skipResourceExistenceValidation?: boolean
}

export interface PermissionsRemoveInput {
  /** Id of the user, instead of `user`. */
  userId?: string
  /** The user, instead of `userId`. */
  user?: UserReference
  /** What to remove. */
  permissions: PermissionsToRemove
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
