// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'

export interface PermissionResource {
  /** Kind of the resource. */
  type: 'organization' | 'folder' | 'document'
  /** Id of the resource. */
  id: string
  /** The organization that holds the folder or document; ignored on an organization. */
  organizationId?: string
  /** `editor` unless given. */
  accessRole?: 'viewer' | 'editor'
  /**
   * Unix seconds, rounded down. Values from 10^12 on are read as milliseconds. Default: never expires. At
   * least 1.
   */
  expiresAt?: number
}

export interface AuthGenerateTokenInput {
  /** Id of the user. */
  userId: string
  /** How the user is shown. Other keys are kept as claims of the token. */
  userProperties: {
    /** Name of the user, for people. At most 1,000 characters. Must not be blank. */
    name: string
    /** Email address of the user. At most 320 characters. Must not be blank. */
    email: string
    /** `false` unless given. */
    isAdmin?: boolean
    /** Other keys are kept as they are sent. */
    [key: string]: unknown
  }
  /** What is permitted. */
  permissions: {
    /** The organizations, folders and documents. At most 500 items. */
    resources: PermissionResource[]
  }
}

export interface AuthGenerateTokenOutput {
  /** The signed token of the user (JWT). It ends after 48 hours. */
  token: string
}

export interface AuthGetTokenInput {
  /** May stand in the header instead. At most 4,096 characters. */
  apiKey?: string
  /** May stand in the header instead. At most 4,096 characters. */
  authToken?: string
  /** Id of the user. */
  userId: string
  /** How the user is shown. Other keys are kept as claims of the token. */
  userProperties: {
    /** Id of the organization. */
    organizationId: string
    /** Whether the token is that of an administrator. Default: false. */
    isAdmin?: boolean
    /** Email address of the user. At most 320 characters. */
    email?: string
    /** Name of the user, for people. At most 1,000 characters. */
    name?: string
    /** Other keys are kept as they are sent. */
    [key: string]: unknown
  }
}

export interface AuthGetTokenOutput {
  /** The signed token of the user (JWT). It ends after 48 hours. */
  token: string
}

/** Signed tokens that say who a user is and what the user may see and change. */
export interface AuthOperations {
  /**
   * Issues a signed token for a user, with the permissions it carries. The token is a JWT (ES256) that ends
   * 48 hours after its issue; the keys to verify it are at `/.well-known/jwks.json`. Further keys of
   * `userProperties` are kept as claims. Nothing is stored: the permissions hold for the sessions that
   * present the token, unless they are granted differently or removed later. Documents are `public` at first:
   * then every user token of the API key opens all of its documents, also those that the token does not name.
   * `defaultDocumentAccessType` of Update API Key Config changes that. `server` and `rest-api` are no names
   * of users: the writes of your backend are stored under them.
   *
   * `POST /v2/auth/generate_token`
   */
  generateToken(input: AuthGenerateTokenInput, options?: CallOptions): Promise<Result<AuthGenerateTokenOutput>>
  /**
   * Issues a signed token for a user of one organization. The first form of token issue, with the credentials
   * in the body. The user becomes an editor of the organization.
   *
   * `POST /v1/auth/token/get`
   */
  getToken(input: AuthGetTokenInput, options?: CallOptions): Promise<Result<AuthGetTokenOutput>>
}
