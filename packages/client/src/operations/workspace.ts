// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface Workspace {
  /** Id of the workspace. */
  id: string
  /** Display name of the workspace. */
  name: string
  /** The person who owns the workspace. */
  owner: WorkspaceOwner
  /** Secret token for the workspace-level operations. */
  authToken: string
  /** The API keys of the workspace, by id. */
  apiKeyList: Record<string, ApiKeySummary>
}

export interface NoInput {
}

export interface WorkspaceOwner {
  /** Email address of the owner. */
  email: string
  /** Id of the owner. */
  id: string
  /** Display name of the owner. */
  name: string
  /** URL of a picture of the owner. Empty if none was sent. */
  avatar: string
}

export interface ApiKeySummary {
  /** Display name of the API key. */
  apiKeyName: string
  /** Id of the API key. */
  id: string
  /** Kind of the API key. Use `testing` for development. */
  type: KeyType
}

/** Kind of the API key. Use `testing` for development. */
export type KeyType = 'testing' | 'production'

export interface WorkspaceCreateInput {
  /** Email address of the owner. At most 320 characters. */
  ownerEmail: string
  /** Display name of the owner. Default: the email address. At most 200 characters. Must not be blank. */
  name?: string
  /**
   * Display name of the workspace. Default: derived from `name`. At most 200 characters. Must not be blank.
   */
  workspaceName?: string
  /** URL of a picture of the owner. At most 2,000 characters. */
  avatar?: string
}

export type WorkspaceGetInput = NoInput

/** A workspace belongs to an owner and has API keys. Creating one gives you the first credentials. */
export interface WorkspaceOperations {
  /**
   * Creates a workspace with its first API key. Requires no credentials. The server limits how often a client
   * address can call it, and refuses disposable email domains. Store `authToken`: the workspace-level
   * operations require it.
   *
   * `POST /v2/workspace/create`
   */
  create(input: WorkspaceCreateInput, options?: CallOptions): Promise<Result<Workspace>>
  /**
   * Reads the workspace.
   *
   * `POST /v2/workspace/get`
   */
  get(input?: WorkspaceGetInput, options?: CallOptions): Promise<Result<Workspace>>
}
