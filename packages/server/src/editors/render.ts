import type { Doc } from 'yjs'
import { type ContentType, inferRoots, inferType, loadWhole, read } from './content.ts'

/** What an editor is said to hold, as far as anybody has said so. */
export interface Contents {
  type: ContentType | null
  contentKey: string | null
}

/**
 * The content of a stored document as JSON, from its snapshot and updates; throws if they are damaged. Takes 50 ms for a
 * few hundred kilobytes, so larger ones belong on another thread.
 */
export function render(updates: readonly Uint8Array[], said: Contents): unknown {
  const doc = loadWhole(updates)
  const { type, contentKey } = contentsOf(doc, said)
  return read(doc, type, contentKey)
}

/** What a document holds: as it was said, else as it shows. */
export function contentsOf(doc: Doc, said: Contents): { type: ContentType; contentKey: string } {
  const contentKey = said.contentKey ?? inferRoots(doc).contentKey ?? 'content'
  return { type: said.type ?? inferType(doc, contentKey) ?? 'text', contentKey }
}
