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
export function render(updates: readonly Uint8Array[], { type, contentKey }: Contents): unknown {
  const doc = loadWhole(updates)
  const key = contentKey ?? inferRoots(doc).contentKey ?? 'content'
  return read(doc, type ?? inferType(doc, key) ?? 'text', key)
}
