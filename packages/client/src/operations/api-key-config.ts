// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'

export interface ApiKeyConfig {
  /** Email address of the owner. */
  ownerEmail: string
  /** The plan of the API key. */
  planInfo: PlanInfo
  /** The `accessType` of documents and folders that neither set nor inherit one. */
  defaultDocumentAccessType: AccessType
  /**
   * Who creates documents. `clients`: also a client that opens a document which does not exist, if its user
   * may write in it. `backends`: only backends, and clients open only documents that exist.
   */
  documentCreation: 'clients' | 'backends'
  /** Whether users can make comments private. Backends always can. */
  isPrivateCommentsEnabled: boolean
  /** Stored without effect: clients always need a valid user token. */
  requireJwtToken: boolean
  /** Whether users become members of the organizations that their token names when they connect. */
  requireAutoOrgUser: boolean
  /** Whether the operations that read lists can be called. */
  useAdvancedQueries: boolean
  /** Whether notifications can be added and read. */
  useNotificationService: boolean
}

export interface ApiKeyOptions {
  /** Whether users can make comments private. Backends always can. */
  enablePrivateComments?: boolean
  /** Stored without effect: clients always need a valid user token. */
  requireJwtToken?: boolean
  /** Whether users become members of the organizations that their token names when they connect. */
  requireAutoOrgUser?: boolean
  /** The `accessType` of documents and folders that neither set nor inherit one. */
  defaultDocumentAccessType?: AccessType
  /**
   * Who creates documents. `clients`: also a client that opens a document which does not exist, if its user
   * may write in it. `backends`: only backends, and clients open only documents that exist.
   */
  documentCreation?: 'clients' | 'backends'
  /** Whether the operations that read lists can be called. */
  useAdvancedQueries?: boolean
  /** Whether notifications can be added and read. */
  useNotificationService?: boolean
}

export interface PlanInfo {
  /** Name of the plan. */
  type: string
}

/**
 * Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the
 * folder or the document. `restricted`: users with a grant on the folder or document where the type was set,
 * or below it.
 */
export type AccessType = 'public' | 'restricted' | 'organizationPrivate'

export type ApiKeyConfigGetInput = NoInput

export type ApiKeyConfigUpdateInput = ApiKeyOptions

/** The options of an API key. */
export interface ApiKeyConfigOperations {
  /**
   * Reads the options of the API key.
   *
   * `POST /v2/workspace/apikeyconfig/get`
   */
  get(input?: ApiKeyConfigGetInput, options?: CallOptions): Promise<Result<ApiKeyConfig>>
  /**
   * Changes options of the API key. Only the sent options change, and the answer has only these. Unlike other
   * operations, this one refuses unknown fields. `enablePrivateComments` is named `isPrivateCommentsEnabled`
   * when it is read.
   *
   * `POST /v2/workspace/apikeyconfig/update`
   */
  update(input?: ApiKeyConfigUpdateInput, options?: CallOptions): Promise<Result<ApiKeyOptions>>
}
