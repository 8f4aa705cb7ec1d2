import type { Contents, Writer } from './editors.ts'
import type { EditorRef } from '../refs.ts'

/** An update to append to the log of an editor. */
export interface Entry {
  apiKey: string
  editor: EditorRef
  update: Uint8Array
  writer: Writer
  /** The type and content key with which a missing editor is created; null if the editor must exist. */
  create: Contents | null
  /** When the editor was created. The update is not appended to an editor that was created later with the same id. */
  createdAt?: number
  /** The Yjs client ids that write to this editor for the first time, with their users. */
  owners: readonly (readonly [clientId: number, userId: string])[]
}

/** The number of an appended update, and when its editor was created. */
export interface Appended {
  seq: number
  createdAt: number
}
