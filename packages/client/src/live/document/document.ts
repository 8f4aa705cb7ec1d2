import type { ApiError } from '@plenum/protocol/errors'
import type { AccessRole, Topic } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { LiveEditor, LiveEditorOptions } from '../editor/editor.ts'
import type { Presence } from '../presence/presence.ts'
import type { LiveState } from '../state/live-state.ts'
import type { Threads } from '../threads/threads.ts'
import type { Ending, Status } from '../status.ts'

/** An open document. `Data` is the type of the presence data of your application. */
export interface LiveDocument<Data extends object = Record<string, unknown>> {
  readonly organizationId: string
  readonly documentId: string
  readonly status: Status
  /** Why the status is not `connected`. Undefined while it is, and until an attempt has failed. */
  readonly reason: ApiError | undefined
  /** Why the status is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** The role of the user. It can change while the document is open. Undefined until the document has been opened. */
  readonly accessRole: AccessRole | undefined
  /** The users who have the document open, and those that a backend added. */
  readonly presence: Presence<Data>
  /** The comment threads of the document that the user may see. */
  readonly threads: Threads
  /** A value that all users of the document share. Returns the same object for the same id. */
  liveState<T extends object = Record<string, unknown>>(liveStateDataId: string): LiveState<T>
  /**
   * Opens an editor. Returns the same object for the same id until you close the editor, and ignores the options of later
   * calls.
   */
  editor(editorId: string, options?: LiveEditorOptions): LiveEditor
  /**
   * Opens the document again without delay, also after `failed`, and connects if there is no connection. A document that is
   * `denied` opens again by itself when the user has access.
   */
  retry(): void
  /** Calls the listener on every later change of the status, its reason or the role. */
  subscribe(listener: (document: LiveDocument<Data>) => void): Unsubscribe
  /**
   * Calls the listener when the document or one of its editors becomes `denied` or `failed`, and when the server refuses
   * one of their requests.
   */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /** Sends outstanding changes of the editors, closes the editors and leaves the document. */
  close(): void
}

export interface LiveDocumentOptions {
  /** What the client receives besides the editors. Default: `['presence', 'liveState']`. */
  topics?: Topic[]
}
