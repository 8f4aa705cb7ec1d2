// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'

export interface ApiKeyConfigGetInput {
}

export interface ApiKeyConfigGetOutput {
  /** Email address of the owner. */
  ownerEmail: string
  /** The plan of the API key. */
  planInfo: {
    /** Name of the plan. */
    type: string
  }
  /** The `accessType` of documents and folders that have none of their own. */
  defaultDocumentAccessType: 'public' | 'restricted' | 'organizationPrivate'
  /** Whether comments may be private. */
  isPrivateCommentsEnabled: boolean
  /** Stored, and changes nothing: clients always need a valid user token. */
  requireJwtToken: boolean
  /** Whether users who sign in become members of the organizations that their token names. */
  requireAutoOrgUser: boolean
  /** Whether operations that read lists may be called. */
  useAdvancedQueries: boolean
  /** Whether notifications may be added and read. */
  useNotificationService: boolean
}

export interface ApiKeyConfigUpdateInput {
  /** Whether comments may be private. */
  enablePrivateComments?: boolean
  /** Stored, and changes nothing: clients always need a valid user token. */
  requireJwtToken?: boolean
  /** Whether users who sign in become members of the organizations that their token names. */
  requireAutoOrgUser?: boolean
  /** The `accessType` of documents and folders that have none of their own. */
  defaultDocumentAccessType?: 'public' | 'restricted' | 'organizationPrivate'
  /** Whether operations that read lists may be called. */
  useAdvancedQueries?: boolean
  /** Whether notifications may be added and read. */
  useNotificationService?: boolean
}

export interface ApiKeyConfigUpdateOutput {
  /** Whether comments may be private. */
  enablePrivateComments?: boolean
  /** Stored, and changes nothing: clients always need a valid user token. */
  requireJwtToken?: boolean
  /** Whether users who sign in become members of the organizations that their token names. */
  requireAutoOrgUser?: boolean
  /** The `accessType` of documents and folders that have none of their own. */
  defaultDocumentAccessType?: 'public' | 'restricted' | 'organizationPrivate'
  /** Whether operations that read lists may be called. */
  useAdvancedQueries?: boolean
  /** Whether notifications may be added and read. */
  useNotificationService?: boolean
}

/** The switches of an API key. */
export interface ApiKeyConfigOperations {
  /**
   * Reads the options of the API key.
   *
   * `POST /v2/workspace/apikeyconfig/get`
   */
  get(input?: ApiKeyConfigGetInput, options?: CallOptions): Promise<Result<ApiKeyConfigGetOutput>>
  /**
   * Changes options of the API key. Only the sent options change, and only they are answered. Unlike
   * elsewhere, an unknown field refuses the call. `enablePrivateComments` is read as
   * `isPrivateCommentsEnabled`.
   *
   * `POST /v2/workspace/apikeyconfig/update`
   */
  update(input?: ApiKeyConfigUpdateInput, options?: CallOptions): Promise<Result<ApiKeyConfigUpdateOutput>>
}
