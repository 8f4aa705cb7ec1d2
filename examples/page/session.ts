import type { Awareness } from 'y-protocols/awareness'
import type { Doc } from 'yjs'

/** What the backend of the application returns to a user who signed in. */
export interface Session {
  token: string
  plenumUrl: string
  user: { id: string; name: string; color: string }
  /** The names of all users, by id. */
  people: Record<string, string>
}

/** What every Yjs binding needs. */
export interface SharedDoc {
  doc: Doc
  awareness: Awareness
}
