import type { Doc } from 'yjs'
import { read, replace, typeError } from './content/content.ts'
import { DamagedLog, DamagedVersion, UnfitContent } from './content/errors.ts'
import { parseSafely, UnfitJson } from '../platform/json/safe-json.ts'
import { loadWhole, snapshot } from './content/load.ts'
import type { Parts } from './content/parts.ts'
import { restore } from './content/restore.ts'
import { choose, type Contents, type ContentType, locate } from './content/roots.ts'

/** Content that takes the place of the stored one; without a content key, in the root that is read. */
export interface Replacement {
  type: ContentType
  contentKey?: string
  /** What a text or XML holds; for maps and arrays as JSON, which is sent to a thread ten times faster than objects. */
  text?: string
  /** Instead of `text`: the content as JSON that was not parsed yet. */
  json?: Uint8Array
}

/** What is to be appended to the log; null when nothing differs. */
export interface Change {
  update: Uint8Array | null
  /** The whole document after it, if the update has as many bytes as to ask for that. */
  snapshot: Uint8Array | null
}

/** What is done with stored documents. It takes as long as they are large, and longer if they were made for that. */
export const storedWork = {
  /** The content as JSON, in UTF-8. */
  render(parts: Parts, declared: Contents): Uint8Array {
    const doc = loadWhole(parts)
    const { type, contentKey } = contentsOf(doc, declared)
    return new TextEncoder().encode(JSON.stringify(read(doc, type, contentKey)))
  },

  /** The whole of a document, and what it holds. */
  capture(parts: Parts, declared: Contents) {
    const doc = loadWhole(parts)
    return { ...contentsOf(doc, declared), snapshot: snapshot(doc) }
  },

  replace(
    parts: Parts,
    declared: Contents,
    replacement: Replacement,
    snapshotFrom: number,
  ): Change & { contentKey: string } {
    const { type } = replacement
    const data = dataOf(replacement)
    const doc = loadWhole(parts)
    const contentKey = choose(doc, declared, replacement)
    return { contentKey, ...changeOf(doc, replace(doc, type, contentKey, data), snapshotFrom) }
  },

  /** The root that a later declaration means; fails if it contradicts what the document holds. */
  declare(parts: Parts, declared: Contents, sent: Partial<Contents>): string {
    return choose(loadWhole(parts), declared, sent)
  },

  /** The last part is the version to go back to. */
  restore(parts: Parts, snapshotFrom: number): Change {
    const doc = loadWhole(parts.slice(0, -1))
    return changeOf(doc, restore(doc, loadVersion(parts.slice(-1))), snapshotFrom)
  },
}

export type StoredWork = typeof storedWork

/** What is read of a document. */
function contentsOf(doc: Doc, declared: Contents): { type: ContentType; contentKey: string } {
  const { type, contentKey } = locate(doc, declared)
  return { type: type ?? 'text', contentKey: contentKey ?? 'content' }
}

function dataOf({ type, text = '', json }: Replacement): unknown {
  const isJson = type === 'map' || type === 'array'
  const data: unknown = json ? parsed(json) : isJson ? JSON.parse(text) : text
  const error = typeError(type, data)
  if (error !== null) throw new UnfitContent(error)
  return data
}

function parsed(json: Uint8Array): unknown {
  try {
    return parseSafely(new TextDecoder().decode(json))
  } catch (error) {
    throw error instanceof UnfitJson ? new UnfitContent(error.message) : error
  }
}

function loadVersion(parts: Parts): Doc {
  try {
    return loadWhole(parts)
  } catch (error) {
    throw error instanceof DamagedLog ? new DamagedVersion(error.message, { cause: error }) : error
  }
}

const changeOf = (doc: Doc, update: Uint8Array | null, snapshotFrom: number): Change => ({
  update,
  snapshot: update !== null && update.length >= snapshotFrom ? snapshot(doc) : null,
})
