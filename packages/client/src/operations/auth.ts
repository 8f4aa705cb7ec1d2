// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface UserProperties {
  /** Display name of the user. At most 1,000 characters. Must not be blank. */
  name: string
  /**
   * Email address of the user. Default: the one in the profile, or none, as for guests and agents. At most
   * 320 characters.
   */
  email?: string
  /** Whether the user is an administrator. Default: false. */
  isAdmin?: boolean
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface TokenPermissions {
  /** The organizations, folders and documents that the token gives access to. At most 500 items. */
  resources: PermissionResource[]
}

export interface UserToken {
  /** The signed token (JWT). It expires after 48 hours. */
  token: string
}

export interface OrganizationUserProperties {
  /** Id of the organization. */
  organizationId: string
  /** Whether the user is an administrator. Default: false. */
  isAdmin?: boolean
  /** Email address of the user. At most 320 characters. */
  email?: string
  /** Display name of the user. At most 1,000 characters. */
  name?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface ProviderPermission {
  /** Id of the user. */
  userId: string
  /** Id of the resource. */
  resourceId: string
  /** Kind of the resource. */
  type: 'organization' | 'folder' | 'document' | 'context'
  /** Whether the user may open the resource. */
  hasAccess: boolean
  /** What the user may do: a `viewer` reads, an `editor` reads and writes. */
  accessRole?: AccessRole
  /** When the permission expires, as Unix time in milliseconds. From 0 to 8,640,000,000,000,000. */
  expiresAt?: number
}

export interface PermissionResource {
  /** Kind of the resource. `context`: a field of the access context, whose id is `key:value`. */
  type: ResourceType
  /** Id of the resource. */
  id: string
  /**
   * Id of the organization that contains the resource. Required, except for an organization, where it is
   * ignored.
   */
  organizationId?: string
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

/** What the user may do: a `viewer` reads, an `editor` reads and writes. */
export type AccessRole = 'viewer' | 'editor'

/** Kind of the resource. `context`: a field of the access context, whose id is `key:value`. */
export type ResourceType = 'organization' | 'folder' | 'document' | 'context'

export interface AuthGenerateTokenInput {
  /** Id of the user. */
  userId: string
  /** How the user is shown. Further keys are kept as claims of the token. */
  userProperties: UserProperties
  /** What the token permits. */
  permissions: TokenPermissions
}

export interface AuthGetTokenInput {
  /** Id of the API key. May be sent in the header `x-svc-api-key` instead. At most 4,096 characters. */
  apiKey?: string
  /**
   * Auth token of the API key. May be sent in the header `x-svc-auth-token` instead. At most 4,096
   * characters.
   */
  authToken?: string
  /** Id of the user. */
  userId: string
  /** How the user is shown. Further keys are kept as claims of the token. */
  userProperties: OrganizationUserProperties
}

export interface AuthGenerateSignatureInput {
  /** The entries of the answer, in their order. From 1 to 500 items. */
  permissions: ProviderPermission[]
}

export interface AuthGenerateSignatureOutput {
  /** HMAC-SHA-256 of the entries, as 64 lower-case hexadecimal digits. */
  signature: string
}

/** Signed tokens that identify a user and carry the permissions of the user. */
export interface AuthOperations {
  /**
   * Issues a signed token for a user, with permissions. The token is a JWT (ES256) that expires 48 hours
   * after its issue. The public keys that verify it are at `/.well-known/jwks.json`. Further keys of
   * `userProperties` become claims. Nothing is stored: the permissions apply to the sessions that use the
   * token, until a later grant or removal overrides them. Documents are `public` by default, so every user
   * token of the API key can open all of its documents, including those that the token does not name.
   * `defaultDocumentAccessType` of Update API Key Config changes that. `server` and `rest-api` cannot be user
   * ids: writes by your backend are stored under them. If required fields are missing, `details.missing`
   * names all of them.
   *
   * `POST /v2/auth/generate_token`
   */
  generateToken(input: AuthGenerateTokenInput, options?: CallOptions): Promise<Result<UserToken>>
  /**
   * Issues a signed token for a user of one organization. The v1 form of Generate Token, with the credentials
   * in the body. The user becomes an editor of the organization.
   *
   * `POST /v1/auth/token/get`
   */
  getToken(input: AuthGetTokenInput, options?: CallOptions): Promise<Result<UserToken>>
  /**
   * Signs what your permission provider answers. The permission provider can return the signature beside
   * `data`. The server then denies everything in an answer that does not match its signature. The entries
   * must be those of `data`, in the same order. Their `organizationId` is not signed. Nothing is stored.
   *
   * `POST /v2/auth/generate_signature`
   */
  generateSignature(input: AuthGenerateSignatureInput, options?: CallOptions): Promise<Result<AuthGenerateSignatureOutput>>
}
