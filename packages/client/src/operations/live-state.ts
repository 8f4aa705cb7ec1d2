// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Success } from './presence.ts'

export interface LiveStateBroadcastInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the live state inside the document. */
  liveStateDataId: string
  /** The new value, or with `merge` the keys to change. */
  data: Record<string, unknown>
  /** True: the sent keys are merged into the stored value, one level deep. Default: false. */
  merge?: boolean
}

/** Small shared state of a document, sent to everybody who has it open. */
export interface LiveStateOperations {
  /**
   * Sets live state of a document. Replaces the stored value, or with `merge` lays the sent keys over it, one
   * level deep. The stored value holds at most 1 MiB of JSON. The fields may also stand at the top level of
   * the body, without `data` around them. Organization and document are created when they do not exist. Its
   * error envelopes carry `code` beside `status`, with the same word.
   *
   * `POST /v2/livestate/broadcast`
   */
  broadcast(input: LiveStateBroadcastInput, options?: CallOptions): Promise<Result<Success>>
}
