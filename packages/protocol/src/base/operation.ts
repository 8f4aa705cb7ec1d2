import type { Static, TSchema } from 'typebox'
import type { ErrorStatus } from './error-statuses.ts'

export type Version = 'v1' | 'v2'

/**
 * Who may call: anybody, the holder of the workspace token, the holder of an API key's token;
 * `body` is the API key with its credentials inside `data` (spec 0.2).
 */
export type Access = 'public' | 'workspace' | 'apiKey' | 'body'

/** Switches of an API key that an operation needs (spec 0.9). */
export type Option = 'useAdvancedQueries' | 'useNotificationService'

export interface ErrorExample {
  status: ErrorStatus
  message: string
  details?: unknown
}

/** One operation of the interface. Routes, checks, client, OpenAPI and reference pages derive from it. */
export interface Operation {
  /** Section of the specification, cited by the reference pages. */
  spec: string
  /** Path behind the version. */
  path: string
  /** Further paths with the same meaning, behind the version. */
  aliases?: readonly string[]
  versions: readonly Version[]
  access: Access
  effect: 'read' | 'write'
  /** Whose access to open documents it may change: of those that its input names, or everybody's (spec 25.8). */
  changesAccess?: 'users' | 'documents' | 'organizations' | 'everybody'
  /** It tells how far a large change is, so it does not wait for that change as other operations do. */
  tellsProgress?: true
  /** The option of the API key that must be on. */
  requires?: Option
  /** `optional`: the body may be left out. `flat`: the fields may stand at the top level (spec 16.1). */
  body?: 'optional' | 'flat'
  /** `large`: the body may be as large as CRDT data (spec 0.7). */
  size?: 'large'
  /** Counted per client address when the operation is public (spec 0.7). */
  rateLimit?: 'createWorkspace'
  /** Its name for people, such as `Get Organizations`. */
  title: string
  /** What it does, in one sentence. */
  summary: string
  description?: string
  input: TSchema
  output: TSchema
  /** Keys beside `data` in a successful answer. */
  paging?: readonly ('nextPageToken' | 'pageToken')[]
  message: string
  /** The message of v2 for some requests; `when` says for which. */
  v2Message?: { message: string; when: string }
  /** Its error envelopes carry `code`, the same word as `status` (spec 16.1). */
  errorCode?: true
  /** What may go wrong beyond credentials and shape, as answered. */
  errors?: readonly ErrorExample[]
  /** With `isV2Message` it is one of the requests that v2 answers with `v2Message`. */
  example: { input: unknown; output: unknown; nextPageToken?: string; isV2Message?: true }
}

export type Input<O extends Operation> = Static<O['input']>
export type Output<O extends Operation> = Static<O['output']>

type Declaration<I extends TSchema, O extends TSchema> = Operation & {
  input: I
  output: O
  example: { input: NoInfer<Static<I>>; output: NoInfer<Static<O>> }
}

/** Types the example by the schemas it stands beside, and keeps every literal for the tables derived from it. */
export function operation<
  I extends TSchema,
  O extends TSchema,
  const A extends Access,
  const E extends 'read' | 'write',
>(declaration: Declaration<I, O> & { access: A; effect: E }): Declaration<I, O> & { access: A; effect: E } {
  return declaration
}
