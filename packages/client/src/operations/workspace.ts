// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'

export interface Workspace {
  /** Id of the workspace. */
  id: string
  /** Name of the workspace, for people. */
  name: string
  /** The person to whom the workspace belongs. */
  owner: {
    /** Email address of the owner. */
    email: string
    /** Id of the owner. */
    id: string
    /** Name of the owner, for people. */
    name: string
    /** Address of a picture of the owner. */
    avatar: string
  }
  /** The secret of the workspace. */
  authToken: string
  /** The API keys of the workspace, by id. */
  apiKeyList: Record<string, ApiKeySummary>
}

export interface ApiKeySummary {
  /** Name of the API key, for people. */
  apiKeyName: string
  /** Id of the API key. */
  id: string
  /** A testing key is for development. */
  type: 'testing' | 'production'
}

export interface WorkspaceCreateInput {
  /** Email address of the owner. At most 320 characters. */
  ownerEmail: string
  /** Name of the owner, for people. At most 200 characters. Must not be blank. */
  name?: string
  /** Name of the workspace, for people. At most 200 characters. Must not be blank. */
  workspaceName?: string
  /** Address of a picture of the owner. At most 2,000 characters. */
  avatar?: string
}

export interface WorkspaceGetInput {
}

/** A workspace belongs to an owner and holds API keys. Creating one gives the first credentials. */
export interface WorkspaceOperations {
  /**
   * Creates a workspace with its first API key. Needs no credentials. Limited by client address; disposable
   * email domains are refused. Keep `authToken`: it opens the workspace-level operations.
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
