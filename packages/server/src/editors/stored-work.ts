import type { Doc } from 'yjs'
import { type ContentType, inferRoots, inferType, read, replace, typeError } from './content.ts'
import { DamagedLog, DamagedVersion, UnfitContent } from './errors.ts'
import { parseSafely, UnfitJson } from '../platform/safe-json.ts'
import { loadWhole, snapshot } from './load.ts'
import type { Parts } from './parts.ts'
import { restore } from './restore.ts'

/** What an editor is said to hold, as far as anybody has said so. */
export interface Contents {
  type: ContentType | null
  contentKey: string | null
}

/** Content that takes the place of the stored one; without a content key, where that one is. */
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
  render(parts: Parts, said: Contents): Uint8Array {
    const doc = loadWhole(parts)
    const { type, contentKey } = contentsOf(doc, said)
    return new TextEncoder().encode(JSON.stringify(read(doc, type, contentKey)))
  },

  /** The whole of a document, and what it holds. */
  capture(parts: Parts, said: Contents) {
    const doc = loadWhole(parts)
    return { ...contentsOf(doc, said), snapshot: snapshot(doc) }
  },

  replace(
    parts: Parts,
    said: Contents,
    replacement: Replacement,
    snapshotFrom: number,
  ): Change & { contentKey: string } {
    const { type } = replacement
    const data = dataOf(replacement)
    const doc = loadWhole(parts)
    const contentKey = contentKeyFor(doc, said, replacement)
    return { contentKey, ...changeOf(doc, replace(doc, type, contentKey, data), snapshotFrom) }
  },

  /** The last part is the version to go back to. */
  restore(parts: Parts, snapshotFrom: number): Change {
    const doc = loadWhole(parts.slice(0, -1))
    return changeOf(doc, restore(doc, loadVersion(parts.slice(-1))), snapshotFrom)
  },
}

export type StoredWork = typeof storedWork

/** What a document holds: as it was said, else as it shows. */
function contentsOf(doc: Doc, said: Contents): { type: ContentType; contentKey: string } {
  const contentKey = said.contentKey ?? inferRoots(doc).contentKey ?? 'content'
  return { type: said.type ?? inferType(doc, contentKey) ?? 'text', contentKey }
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

/** The name of the root that is written. Where nobody has said what the editor holds, the document shows it. */
function contentKeyFor(doc: Doc, said: Contents, sent: Replacement): string {
  const contentKey = said.contentKey ?? inferRoots(doc).contentKey
  const type = said.type ?? inferType(doc, contentKey ?? '')
  if (type !== null && sent.type !== type) throw new UnfitContent('Type does not match the stored data.')
  if (contentKey !== null && sent.contentKey !== undefined && sent.contentKey !== contentKey) {
    throw new UnfitContent('Content key does not match the stored data.')
  }
  return contentKey ?? sent.contentKey ?? 'content'
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
