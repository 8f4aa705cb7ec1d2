// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
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

/** Small shared state of a document, sent to all clients that have the document open. */
export interface LiveStateOperations {
  /**
   * Sets a live state of a document. Replaces the stored value; with `merge`, the sent keys are merged into
   * it, one level deep. The stored value has at most 1 MiB of JSON. All clients that have the document open
   * receive the new value. The fields can also be sent at the top level of the body, without `data` around
   * them. The organization and the document are created if they do not exist. Its errors have a field `code`
   * with the value of `status`.
   *
   * `POST /v2/livestate/broadcast`
   */
  broadcast(input: LiveStateBroadcastInput, options?: CallOptions): Promise<Result<Success>>
}
