import { type Doc, mergeUpdates } from 'yjs'
import {
  anchorRanges,
  type AnchoredRange,
  type Fault,
  type FoundRange,
  locateRanges,
  type SentRange,
} from './content/anchors.ts'
import { read, replace, contentError } from './content/content.ts'
import { DamagedLog, DamagedVersion, UnfitContent } from './content/errors.ts'
import { parseSafely, UnfitJson } from '../platform/json/safe-json.ts'
import { loadWhole, snapshot } from './content/load.ts'
import type { Parts } from './content/parts.ts'
import { restore } from './content/restore.ts'
import { chooseRoot, type Contents, type ContentType, locateRoot } from './content/roots.ts'

/** New content for the root `contentKey`. Default: the root that `chooseRoot` returns. */
export interface Replacement {
  type: ContentType
  contentKey?: string
  /** Text or XML; for maps and arrays JSON, which is sent to a thread ten times faster than objects. */
  text?: string
  /** The content as unparsed JSON, instead of `text`. */
  json?: Uint8Array
}

export interface Change {
  /** The update to append to the log; null if nothing differs. */
  update: Uint8Array | null
  /** A snapshot of the document after the update; null if the update is too small for one. */
  snapshot: Uint8Array | null
}

/** The work on stored documents. Its time grows with their size, and hostile documents take much longer. */
export const storedWork = {
  /** The content as JSON, in UTF-8. */
  render(parts: Parts, declared: Contents): Uint8Array {
    const doc = loadWhole(parts)
    const { type, contentKey } = contentsOf(doc, declared)
    return new TextEncoder().encode(JSON.stringify(read(doc, type, contentKey)))
  },

  /** A snapshot of the document, with the type and key of its content. */
  capture(parts: Parts, declared: Contents) {
    const doc = loadWhole(parts)
    return { ...contentsOf(doc, declared), snapshot: snapshot(doc) }
  },

  /** Replaces the content by each of the replacements, one after the other, in one change. */
  replace(
    parts: Parts,
    declared: Contents,
    replacements: readonly Replacement[],
    snapshotFrom: number,
  ): Change & { contentKey: string } {
    const contents = replacements.map(dataOf)
    const doc = loadWhole(parts)
    let contentKey = ''
    let before = declared
    const update = updateOf(doc, () => {
      for (const [index, replacement] of replacements.entries()) {
        const { type } = replacement
        contentKey = chooseRoot(doc, before, replacement)
        replace(doc, type, contentKey, contents[index])
        before = { type, contentKey }
      }
    })
    return { contentKey, ...changeOf(doc, update, snapshotFrom) }
  },

  /** Returns the key of the root that the sent declaration refers to. Fails if the declaration contradicts the content. */
  declare(parts: Parts, declared: Contents, sent: Partial<Contents>): string {
    return chooseRoot(loadWhole(parts), declared, sent)
  },

  /** Restores a document to a version, which is the last part. */
  restore(parts: Parts, snapshotFrom: number): Change {
    const doc = loadWhole(parts.slice(0, -1))
    return changeOf(doc, restore(doc, loadVersion(parts.slice(-1))), snapshotFrom)
  },

  /** Turns sent ranges into the form in which they are stored. */
  anchor(parts: Parts, declared: Contents, ranges: readonly SentRange[]): (AnchoredRange | Fault)[] {
    return anchorRanges(loadWhole(parts), declared, ranges)
  },

  /** Finds out where stored ranges are now. */
  locate(parts: Parts, ranges: readonly AnchoredRange[]): FoundRange[] {
    return locateRanges(loadWhole(parts), ranges)
  },
}

export type StoredWork = typeof storedWork

/** The type and key of the root that is read. Defaults: `text` and `content`. */
function contentsOf(doc: Doc, declared: Contents): { type: ContentType; contentKey: string } {
  const { type, contentKey } = locateRoot(doc, declared)
  return { type: type ?? 'text', contentKey: contentKey ?? 'content' }
}

/** Runs the work as one transaction, so that the update has nothing of what the work adds and deletes again. */
function updateOf(doc: Doc, work: () => void): Uint8Array | null {
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => void updates.push(update))
  doc.transact(work)
  return updates.length === 0 ? null : mergeUpdates(updates)
}

function dataOf({ type, text = '', json }: Replacement): unknown {
  const isJson = type === 'map' || type === 'array'
  const data: unknown = json ? parseBytes(json) : isJson ? JSON.parse(text) : text
  const error = contentError(type, data)
  if (error !== null) throw new UnfitContent(error)
  return data
}

function parseBytes(json: Uint8Array): unknown {
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
