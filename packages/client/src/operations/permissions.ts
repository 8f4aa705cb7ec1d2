// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
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
  /** The access context of the user. Absent: the user holds no field. */
  context?: AccessContext
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
  /** Human-readable reason why the user has no access. */
  error?: string
  /** Machine-readable reason why the user has no access. */
  errorCode?: PermissionErrorCode
}

export interface AccessContext {
  /** The fields that the user holds, as `key:value`. */
  accessFields: string[]
}

export interface ResourceReference {
  /** Kind of the resource. `context`: a field of the access context, whose id is `key:value`. */
  type: ResourceType
  /** Id of the resource. */
  id: string
  /**
   * Id of the organization that contains the resource. Required, except for an organization, where it is
   * ignored.
   */
  organizationId?: string
}

/** Machine-readable reason why the user has no access. */
export type PermissionErrorCode = 'does_not_exist' | 'permission_denied' | 'something_went_wrong'

export interface PermissionsAddInput {
  /** The user, instead of `userId`. */
  user?: UserReference
  /** Id of the user, instead of `user`. */
  userId?: string
  /** The grants to add. */
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
  /** The grants to remove. */
  permissions: PermissionsToRemove
}

/** What a user may do with organizations, folders and documents. */
export interface PermissionsOperations {
  /**
   * Grants a user access to organizations, folders and documents. A user has one grant per resource. A second
   * grant replaces role and expiry, including those in tokens that were issued before. The resources do not
   * have to exist yet. An unknown user is created.
   *
   * `POST /v2/auth/permissions/add`
   */
  add(input: PermissionsAddInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Reads what users may do in an organization, its folders and documents. `accessType` is the type that
   * applies, set or inherited. If a user has no access, the entry contains an error and the call succeeds. If
   * a folder or document does not exist, the call fails with all entries in `details`; with
   * `skipResourceExistenceValidation` it succeeds, and only the entry contains an error.
   *
   * `POST /v2/auth/permissions/get`
   */
  get(input: PermissionsGetInput, options?: CallOptions): Promise<Result<Record<string, UserPermissions>>>
  /**
   * Removes grants of a user on organizations, folders and documents. Removes the grants on exactly these
   * resources, including those in tokens that were issued before. A missing grant is not an error. A user who
   * loses an organization also leaves its user groups. The profile stays. Removing a grant does not close a
   * `public` document to the user, and documents are `public` by default: a user without a grant can write
   * there, even a former viewer. To exclude users without a grant, set `accessType` to `restricted` with
   * `documents.updateAccess`.
   *
   * `POST /v2/auth/permissions/remove`
   */
  remove(input: PermissionsRemoveInput, options?: CallOptions): Promise<Result<null>>
}
