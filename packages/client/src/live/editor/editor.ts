import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import type { ApiError } from '@plenum/protocol/errors'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { Ending, Status } from '../status.ts'
import type { Versions } from '../versions/versions.ts'

export interface LiveEditorOptions {
  /** Declares what the editor holds, for REST. Replaces an earlier declaration whose shared type is empty. */
  type?: 'text' | 'map' | 'array' | 'xml'
  /** The name of that shared type in the `Y.Doc`. Without it, the server looks where the usual bindings write. */
  contentKey?: string
  /** A document of yours, such as one that another provider keeps on the device. */
  doc?: Y.Doc
}

/** Another object after each change. */
export interface LiveEditorState {
  /** `connected`: the content is here, and changes come in. */
  readonly status: Status
  /** Whether everything that was changed here is durable at the server. */
  readonly saved: boolean
  /** Whether the user may not change it; changes that are made nevertheless stay here. */
  readonly readOnly: boolean
}

export interface LiveEditor extends LiveEditorState {
  readonly editorId: string
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly state: LiveEditorState
  readonly versions: Versions
  /** Why it is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** Resolves when the content is here for the first time; rejects when that will not happen. */
  readonly whenSynced: Promise<void>
  /**
   * Resolves when everything is durable. Rejects when the server refuses it, when the user is a viewer
   * (`PERMISSION_DENIED`), and when the editor is closed before.
   */
  whenSaved(): Promise<void>
  /** Called at each change of the state, not at once. */
  subscribe(listener: (state: LiveEditorState) => void): Unsubscribe
  /** Why it is `denied` or `failed`, what the server refuses, and that the changes of a viewer are not sent. */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /** Sends what is not sent yet, then leaves. The `Y.Doc` stays as it is. */
  close(): void
}
