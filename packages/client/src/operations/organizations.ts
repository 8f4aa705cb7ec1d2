// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'

export interface OrganizationInput {
  /** Id of the organization. */
  organizationId: string
  /** Name of the organization, for people. At most 1,000 characters. */
  organizationName?: string
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface Outcome {
  /** Whether it was done. */
  success: boolean
  /** Id of the item at the server. */
  id?: string
  /** What happened, for people. */
  message: string
  /** Why it failed, as a word for programs. */
  code?: string
}

export interface Organization {
  /** Id of the organization. */
  id: string
  /** The id, unless a name was set. */
  organizationName: string
  /** While true, users can neither read nor write it. */
  disabled: boolean
  /** When it was created, in milliseconds since 1970. */
  createdAt: number
  /** When it was last changed, in milliseconds since 1970. */
  lastUpdated: number
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface OrganizationsAddInput {
  /** The organizations. 1 to 500 items. */
  organizations: OrganizationInput[]
}

export interface OrganizationsGetInput {
  /** Ids of the organizations. At most 30 items. */
  organizationIds?: string[]
  /** How many are read at most. 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * `nextPageToken` of the answer before, to read the next page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface OrganizationsUpdateInput {
  /** The organizations. 1 to 500 items. */
  organizations: OrganizationInput[]
}

export interface OrganizationsDeleteInput {
  /** Ids of the organizations. 1 to 500 items. */
  organizationIds: string[]
}

export interface OrganizationsUpdateDisableStateInput {
  /** Ids of the organizations. 1 to 500 items. */
  organizationIds: string[]
  /** While true, users can neither read nor write it. */
  disabled: boolean
}

/** The top of the tree: folders, documents and users belong to an organization. */
export interface OrganizationsOperations {
  /**
   * Adds organizations. Further keys of an organization are kept as its metadata. One that exists already is
   * left as it is.
   *
   * `POST /v2/organizations/add`
   */
  add(input: OrganizationsAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads organizations, all or by id. Ids that do not exist are left out. Under v1 everything is returned at
   * once, up to 10,000 organizations. Needs the option `useAdvancedQueries` of the API key, which is on
   * unless switched off.
   *
   * `POST /v2/organizations/get`
   */
  get(input?: OrganizationsGetInput, options?: CallOptions): Promise<Result<Organization[]>>
  /**
   * Changes the name and the metadata of organizations. Sent keys are merged into the stored ones; `null`
   * removes a key. `disabled` is not changed here.
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
   * Shuts organizations for their users, or opens them again. While an organization is disabled its users can
   * read and write nothing in it. One that does not exist is created.
   *
   * `POST /v2/organizations/access/disablestate/update`
   */
  updateDisableState(input: OrganizationsUpdateDisableStateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
}
