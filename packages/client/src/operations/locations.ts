// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface LocationMigration {
  /** The location as it is now. */
  oldLocation: CommentLocation
  /** The new location. */
  newLocation: CommentLocation
}

export interface CommentLocation {
  /** Id of the location. `0` is an id. At least 0. */
  id?: string | number
  /** Name of the location. It identifies the location if there is no `id`. */
  locationName?: string
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface LocationsUpdateInput {
  /** Id of the API key. May be sent in the header `x-svc-api-key` instead. At most 4,096 characters. */
  apiKey?: string
  /**
   * Auth token of the API key. May be sent in the header `x-svc-auth-token` instead. At most 4,096
   * characters.
   */
  authToken?: string
  /** Id of the organization. Required if several organizations have a document with this id. */
  organizationId?: string
  /** Id of the document. */
  documentId: string
  /** The old and the new location. */
  migrate: LocationMigration
  /** True: the fields of the new location are added to the stored ones. Default: they replace them. */
  merge?: boolean
}

export interface LocationsDeleteDataInput {
  /** Id of the API key. May be sent in the header `x-svc-api-key` instead. At most 4,096 characters. */
  apiKey?: string
  /**
   * Auth token of the API key. May be sent in the header `x-svc-auth-token` instead. At most 4,096
   * characters.
   */
  authToken?: string
  /** Id of the organization. Required if several organizations have a document with this id. */
  organizationId?: string
  /** Id of the document. */
  documentId: string
  /** The location. */
  location: CommentLocation
}

/** Places inside a document, such as a page or a slide, at which comments and notifications are. */
export interface LocationsOperations {
  /**
   * Moves everything at a location of a document to another location. Every annotation and notification at
   * the old location gets the new location. A location is found by its `id`, else by its `locationName`.
   * Nothing changes if nothing is there. The time of the last change of an annotation stays.
   *
   * `POST /v1/organizations/documents/locations/update`
   */
  update(input: LocationsUpdateInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Deletes the comments, reactions and notifications at a location of a document. The document stays.
   *
   * `POST /v1/organizations/documents/locations/data/delete`
   */
  deleteData(input: LocationsDeleteDataInput, options?: CallOptions): Promise<Result<null>>
}
