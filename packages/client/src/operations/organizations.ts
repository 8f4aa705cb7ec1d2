// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface OrganizationInput {
  /** Id of the organization. */
  organizationId: string
  /** Display name of the organization. At most 1,000 characters. */
  organizationName?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Outcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** Id of the item on the server. */
  id?: string
  /** What happened to this item. */
  message: string
  /** Machine-readable reason of the failure: `not-found`, `already-exists` or `internal`. */
  code?: string
}

export interface Organization {
  /** Id of the organization. */
  id: string
  /** Display name of the organization. Its id if no name was set. */
  organizationName: string
  /** While true, users can neither read nor write anything in the organization. */
  disabled: boolean
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface OrganizationsAddInput {
  /** The organizations to add. From 1 to 500 items. */
  organizations: OrganizationInput[]
}

export interface OrganizationsGetInput {
  /** Ids of the organizations to read. Default: all. At most 30 items. */
  organizationIds?: string[]
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface OrganizationsUpdateInput {
  /** The organizations to change, with the keys to change. From 1 to 500 items. */
  organizations: OrganizationInput[]
}

export interface OrganizationsDeleteInput {
  /** Ids of the organizations to delete. From 1 to 500 items. */
  organizationIds: string[]
}

export interface OrganizationsUpdateDisableStateInput {
  /** Ids of the organizations to change. From 1 to 500 items. */
  organizationIds: string[]
  /** While true, users can neither read nor write anything in the organization. */
  disabled: boolean
}

/** The top of the tree: folders, documents and users belong to an organization. */
export interface OrganizationsOperations {
  /**
   * Adds organizations. Further keys of an organization are stored as its metadata. An organization that
   * exists stays unchanged.
   *
   * `POST /v2/organizations/add`
   */
  add(input: OrganizationsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads organizations, all or by id. Ids that do not exist are left out. v1 has no pages and returns up to
   * 10,000 organizations. Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/organizations/get`
   */
  get(input?: OrganizationsGetInput, options?: CallOptions): Promise<Result<Organization[]>>
  /**
   * Changes the name and the metadata of organizations. Sent keys are merged into the stored ones; `null`
   * removes a key. `organizations.updateDisableState` changes `disabled`.
   *
   * `POST /v2/organizations/update`
   */
  update(input: OrganizationsUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes organizations and everything inside them.
   *
   * `POST /v2/organizations/delete`
   */
  delete(input: OrganizationsDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Disables organizations for their users, or enables them again. While an organization is disabled, users
   * can neither read nor write anything in it. An organization that does not exist is created.
   *
   * `POST /v2/organizations/access/disablestate/update`
   */
  updateDisableState(input: OrganizationsUpdateDisableStateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
}
