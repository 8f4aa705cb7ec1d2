import type { Contents, Writer } from './editors.ts'
import type { EditorRef } from '../refs.ts'

/** An update to append. */
export interface Entry {
  apiKey: string
  place: EditorRef
  update: Uint8Array
  writer: Writer
  /** What an editor holds that is made if there is none; null: it must be there. */
  create: Contents | null
  /** The one that was loaded: another editor under the same id counts as gone. */
  createdAt?: number
  /** Client ids that write here for the first time. */
  owners: readonly (readonly [clientId: number, userId: string])[]
}

/** The number that an update got, in the editor that was made then. */
export interface Appended {
  seq: number
  createdAt: number
}
