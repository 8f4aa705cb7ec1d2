import type { ApiError } from '@plenum/protocol/errors'
import type { AccessRole, Topic } from '@plenum/protocol/realtime'
import type { LiveEditor, LiveEditorOptions } from '../editor/editor.ts'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { LiveState } from '../state/live-state.ts'
import type { Presence } from '../presence/presence.ts'
import type { Ending, Status } from '../status.ts'

/** `Data` is the type of the presence data that the clients of your application publish. */
export interface LiveDocument<Data extends object = Record<string, unknown>> {
  readonly organizationId: string
  readonly documentId: string
  readonly status: Status
  /** Why it is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** Unknown until the document has been opened. */
  readonly accessRole: AccessRole | undefined
  readonly presence: Presence<Data>
  /** The same object for the same id. */
  liveState<T extends object = Record<string, unknown>>(liveStateDataId: string): LiveState<T>
  /** The same object for the same id until it is closed; the options count the first time. */
  editor(editorId: string, options?: LiveEditorOptions): LiveEditor
  /** Called when the status or the role has changed. */
  subscribe(listener: (document: LiveDocument<Data>) => void): Unsubscribe
  /** Why it is `denied` or `failed`, and what the server refuses here, in the editors too. */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /** Sends what is not sent yet, then leaves the document and its editors. */
  close(): void
}

export interface LiveDocumentOptions {
  /** What is wanted of it besides its editors; presence and live state unless given. */
  topics?: Topic[]
}
