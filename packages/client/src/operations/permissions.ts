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

export interface Assumption {
  /**
   * Grants that the user gets: on the document, on a folder around it, or on the organization. As
   * `permissions.add`. At most 500 items.
   */
  addGrants?: AssumedGrant[]
  /**
   * Levels on which the user loses the grant. As `permissions.remove`. A level that is also in `addGrants`
   * has the new grant. At most 500 items.
   */
  removeGrants?: AssumedLevel[]
  /** The own access type of the document or folder. */
  accessType?: AccessType
  /** The folder that the document is moved to. `root` moves it out of all folders. Needs `documentId`. */
  folderId?: string
  /** Whether the document is disabled. Needs `documentId`. */
  disabled?: boolean
  /** Whether the organization is disabled. */
  organizationDisabled?: boolean
  /** `defaultDocumentAccessType` of the API key. */
  defaultDocumentAccessType?: AccessType
  /** The token of the session in which the user opens it. */
  token?: AssumedToken
}

export interface PermissionExplanation {
  /** Whether the user is stored. An unknown user is explained as a user without grants. */
  userExists: boolean
  /**
   * Whether the document is stored. An unknown document is explained as if the user had just opened it.
   * Absent for a folder.
   */
  documentExists?: boolean
  /** The decision for a session without grants in its token. */
  now: ExplainedDecision
  /** The decision after the changes in `assume`. Absent without `assume`. */
  assumed?: ExplainedDecision
  /** Whether `canRead` or `canWrite` differ between `now` and `assumed`. Absent without `assume`. */
  differs?: boolean
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

export interface AssumedGrant {
  /** Kind of the resource. `context`: a field of the access context, whose id is `key:value`. */
  type: ResourceType
  /** Id of the resource. */
  id: string
  /**
   * What the user may do: a `viewer` reads, an `editor` reads and writes. Default: a role that was sent for
   * the user before, there or on a less specific level, otherwise `editor`.
   */
  accessRole?: AccessRole
  /**
   * When the permission expires, in Unix seconds, rounded down. Values from 10^12 on are read as
   * milliseconds. Default: never. At least 1.
   */
  expiresAt?: number
}

export interface AssumedLevel {
  /** Kind of the resource. `context`: a field of the access context, whose id is `key:value`. */
  type: ResourceType
  /** Id of the resource. */
  id: string
}

export interface AssumedToken {
  /**
   * `permissions.resources` of the token. Resources that are not levels of the document or folder have no
   * effect. Default: none. At most 500 items.
   */
  resources?: PermissionResource[]
  /**
   * The claim `issuedAtMs` of the token: when it was issued, as Unix time in milliseconds. Default: after the
   * last change of any grant. At least 1.
   */
  issuedAtMs?: number
}

export interface ExplainedDecision {
  /** Whether the user may read. */
  canRead: boolean
  /** Whether the user may write. */
  canWrite: boolean
  /** The role of the user. Absent: the user has no access. */
  accessRole?: AccessRole
  /** When the grant that decided expires, in Unix seconds. Absent: never. */
  expiresAt?: number
  /** Number of the rule of the specification that decided. */
  rule: string
  /** Why the rule applies and, if the user has no access, what would give it. */
  message: string
  /** The access type that applies, set or inherited. */
  accessType: AccessType
  /** The level that sets the access type. */
  definedAt: LevelReference
  /** Whether the document is disabled. Absent for a folder. */
  disabled?: boolean
  /** Whether the organization is disabled. */
  organizationDisabled: boolean
  /** The answer of the permission provider. Absent: it is not used. */
  provider?: ExplainedProvider
  /**
   * The document, its folders from the nearest to the top level, the organization, and the default of the API
   * key.
   */
  levels: ExplainedLevel[]
}

/** Machine-readable reason why the user has no access. */
export type PermissionErrorCode = 'does_not_exist' | 'permission_denied' | 'something_went_wrong'

export interface LevelReference {
  /** Kind of the level. `apiKey` is the default of the API key. */
  type: 'document' | 'folder' | 'organization' | 'apiKey'
  /** Id of the document, folder, organization or API key. */
  id: string
}

export interface ExplainedProvider {
  /** Whether the permission provider gives access. False if it gave no answer. */
  hasAccess: boolean
  /** The role in the answer. Absent: `editor`. */
  accessRole?: AccessRole
  /** When the answer expires, in Unix seconds. Absent: not in the answer. */
  expiresAt?: number
}

export interface ExplainedLevel {
  /** Kind of the level. `apiKey` is the default of the API key. */
  type: 'document' | 'folder' | 'organization' | 'apiKey'
  /** Id of the document, folder, organization or API key. */
  id: string
  /** The access type that is set at this level. Absent: none is set. */
  accessType?: AccessType
  /** Whether the document or folder inherits its access type. Absent for other levels. */
  inheritAccessFromParent?: boolean
  /** The grant of the user at this level. Absent: none. */
  grant?: ExplainedGrant
  /** What this level contributes, in one or two sentences. */
  message: string
}

export interface ExplainedGrant {
  /** The role that the grant gives. Absent: removed. */
  accessRole?: AccessRole
  /**
   * True: nobody sent the role. If another grant that applies has a role that somebody sent, that role
   * applies.
   */
  isDefaultRole?: boolean
  /** When the grant expires, in Unix seconds. Absent: never, or removed. */
  expiresAt?: number
  /** Whether the grant has ended. */
  state: 'live' | 'expired' | 'removed'
  /** Where the grant is: stored on the server, or in the assumed token. */
  source: 'stored' | 'token'
  /**
   * Whether the grant gives access under the access type. If several grants apply, the first one in the list
   * gives the role.
   */
  applies: boolean
}

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

export interface PermissionsExplainInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the user. */
  userId: string
  /** Id of the document. */
  documentId?: string
  /** Id of the folder. */
  folderId?: string
  /** True: a document that does not exist is explained as if the user had just opened it. Default: false. */
  skipResourceExistenceValidation?: boolean
  /** Changes to try out. They are not made. */
  assume?: Assumption
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
  /**
   * Explains what a user may do with a document or folder, and why. Send `documentId` or `folderId`. The
   * answer lists all levels that can give or define access, and names the rule of the specification that
   * decided. The server does not store the tokens of users, so `now` is based on stored grants only; send the
   * resources of a token as `assume.token` to include them. With `assume`, the answer also has the decision
   * after the changes that `assume` describes. Nothing is stored.
   *
   * `POST /v2/auth/permissions/explain`
   */
  explain(input: PermissionsExplainInput, options?: CallOptions): Promise<Result<PermissionExplanation>>
}
