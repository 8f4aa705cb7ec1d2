import type { Awareness } from 'y-protocols/awareness'
import type { Doc } from 'yjs'

/** What the backend of the application gives to a user who signed in. */
export interface Session {
  token: string
  plenumUrl: string
  user: { id: string; name: string; color: string }
}

/** What every Yjs editor wants. */
export interface Shared {
  doc: Doc
  awareness: Awareness
}
