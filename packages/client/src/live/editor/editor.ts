import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import type { ApiError } from '@plenum/protocol/errors'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { Ending, Status } from '../status.ts'
import type { Versions } from '../versions/versions.ts'

export interface LiveEditorOptions {
  /**
   * Declares the type of the content, for REST. Default: the server looks where the usual editor bindings write. A new
   * declaration replaces an earlier declaration only if the earlier shared type is empty.
   */
  type?: 'text' | 'map' | 'array' | 'xml'
  /** The name of the shared type in the `Y.Doc` that holds the content, such as `default` for Tiptap. */
  contentKey?: string
  /** An existing `Y.Doc`, such as one that another provider stores on the device. Default: a new one. */
  doc?: Y.Doc
}

/** The state of an editor. Immutable: a change gives a new object. */
export interface LiveEditorState {
  /** `connected` means that the content has loaded and changes are synchronized. */
  readonly status: Status
  /** Why the status is not `connected`. Undefined while it is, and until an attempt has failed. */
  readonly reason: ApiError | undefined
  /** Whether the server has stored all local changes durably. */
  readonly saved: boolean
  /** Whether the user is a viewer. Changes of a viewer stay local until the user becomes an editor. */
  readonly readOnly: boolean
}

/** A shared Yjs document with its cursors. It can be passed to any editor that has a binding to Yjs. */
export interface LiveEditor extends LiveEditorState {
  readonly editorId: string
  /** The content. Changes are sent automatically, also those made while offline. */
  readonly doc: Y.Doc
  /** Cursors, names and colors of the users in this editor. */
  readonly awareness: Awareness
  /** `status`, `reason`, `saved` and `readOnly` as one immutable object. */
  readonly state: LiveEditorState
  /** Saved versions of the content. */
  readonly versions: Versions
  /** Why the status is `denied` or `failed`. */
  readonly ended: Ending | undefined
  /** Opens the editor again without delay, also after `failed`. So it does with its document and the connection. */
  retry(): void
  /** Resolves when the content has loaded for the first time. Rejects with an `ApiError` if that cannot happen. */
  readonly whenSynced: Promise<void>
  /**
   * Resolves when the server has stored all local changes durably. Rejects with an `ApiError` when the server refuses a
   * change, when the user is a viewer (`PERMISSION_DENIED`), and when the editor is closed before (`ABORTED`).
   */
  whenSaved(): Promise<void>
  /** Calls the listener on every later change of the state. */
  subscribe(listener: (state: LiveEditorState) => void): Unsubscribe
  /**
   * Calls the listener when the editor becomes `denied` or `failed`, when the server refuses a change or a request, and
   * when a viewer makes changes, which are not saved.
   */
  on(event: 'error', listener: (error: ApiError) => void): Unsubscribe
  /** Sends outstanding changes and leaves the editor. The `Y.Doc` keeps its content. */
  close(): void
}
