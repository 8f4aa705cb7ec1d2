import type { Static, TSchema } from 'typebox'
import type { ErrorStatus } from './error-statuses.ts'

export type ApiVersion = 'v1' | 'v2'

/**
 * The credentials that a call needs. `user`: those of an API key, or the token of a user. `body`: the credentials of an API
 * key, sent inside `data` (spec 0.2).
 */
export type Access = 'public' | 'workspace' | 'apiKey' | 'user' | 'body'

/** Options of an API key that an operation can require (spec 0.9). */
export type Option = 'useAdvancedQueries' | 'useNotificationService'

export interface ErrorExample {
  status: ErrorStatus
  message: string
  details?: unknown
}

/** One operation of the interface. Routes, validation, the client, OpenAPI and the reference pages derive from it. */
export interface Operation {
  /** Section of the specification. */
  spec: string
  /** Path after the version. */
  path: string
  /** Further paths of the same operation, after the version. */
  aliases?: readonly string[]
  versions: readonly ApiVersion[]
  access: Access
  effect: 'read' | 'write'
  /**
   * Whose access to open documents a call can change: `everybody`, or the users, documents or organizations that its input
   * names (spec 25.8).
   */
  changesAccess?: 'users' | 'documents' | 'organizations' | 'everybody'
  /** The operation reads the progress of a large change, so it does not wait for the change as other operations do. */
  reportsProgress?: true
  /** The option of the API key that must be on. */
  requires?: Option
  /**
   * `optional`: the body can be absent. `flat`: the fields can be at the top level of the body instead of inside `data`
   * (spec 16.1).
   */
  body?: 'optional' | 'flat'
  /** `large`: the body may be as large as CRDT data (spec 0.7). */
  size?: 'large'
  /** The rate limit per client address, for public operations (spec 0.7). */
  rateLimit?: 'createWorkspace' | 'loginLinks'
  /** Display name, such as `Get Organizations`. */
  title: string
  /** What the operation does, in one sentence. */
  summary: string
  description?: string
  input: TSchema
  output: TSchema
  /** Keys beside `data` in a successful answer that has a next page. */
  paging?: readonly ('nextPageToken' | 'pageToken')[]
  /**
   * `output` is a union: of a list, and of a map for inputs in which this field is true. The methods of the client have a type
   * for each.
   */
  groupedBy?: 'groupByDocumentId'
  message: string
  /** The HTTP status of a success. 202: the work continues after the answer. Default: 200. */
  successStatus?: 202
  /** The message under v2, for the requests that `when` describes. */
  v2Message?: { message: string; when: string }
  /** The errors of the operation have a field `code` with the value of `status` (spec 16.1). */
  errorCode?: true
  /** The errors of the operation, besides credential and validation errors. */
  errors?: readonly ErrorExample[]
  /** `isV2Message`: v2 answers the example with `v2Message`. */
  example: { input: unknown; output: unknown; nextPageToken?: string; isV2Message?: true }
}

export type Input<O extends Operation> = Static<O['input']>
export type Output<O extends Operation> = Static<O['output']>

type Declaration<I extends TSchema, O extends TSchema> = Operation & {
  input: I
  output: O
  example: { input: NoInfer<Static<I>>; output: NoInfer<Static<O>> }
}

/** Returns the declaration. Types its example by its schemas, and keeps the literal types of `access` and `effect`. */
export function operation<
  I extends TSchema,
  O extends TSchema,
  const A extends Access,
  const E extends 'read' | 'write',
>(declaration: Declaration<I, O> & { access: A; effect: E }): Declaration<I, O> & { access: A; effect: E } {
  return declaration
}
