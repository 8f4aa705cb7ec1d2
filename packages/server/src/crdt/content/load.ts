import * as Y from 'yjs'
import { DamagedLog } from './errors.ts'
import { batches, type Parts } from './parts.ts'

/**
 * The Yjs client id of the server's own writes. It is always the same, so these add only one client to the state vector.
 * Such a write needs the whole stored document, and is stored only if no other write of the server came in between
 * (`canStillAppend`): so the clock of this id continues where it stopped.
 */
export const serverClientId = 0xffff_ffff

/**
 * Yjs joins the new items of an array when a transaction ends, in time and memory quadratic in their number: 40,000 items
 * that were written one by one crash the process. With this limit a transaction of several parts has a few thousand items.
 */
const maxPerTransaction = { parts: 256, bytes: 32 * 1024 }

/** The document that a snapshot and the updates after it describe. */
export function load(parts: Parts): Y.Doc {
  // Yjs would take a random id, which takes longer than to load a small document. Only subdocuments make use of it.
  const doc = new Y.Doc({ guid: 'stored' })
  for (const some of batches(parts, maxPerTransaction)) {
    doc.transact(() => {
      for (const part of some) Y.applyUpdate(doc, part)
    })
  }
  // Set after the updates: Yjs changes the id of a document when it applies an update with the same id.
  doc.clientID = serverClientId
  return doc
}

/** As `load`. Throws `DamagedLog` if bytes cannot be read, or if updates are missing, whose content would be missing, too. */
export function loadWhole(parts: Parts): Y.Doc {
  const doc = loadReadable(parts)
  const { pendingStructs, pendingDs } = doc.store
  if (pendingStructs !== null || pendingDs !== null) throw new DamagedLog('Updates refer to missing ones.')
  return doc
}

function loadReadable(parts: Parts): Y.Doc {
  try {
    return load(parts)
  } catch (error) {
    throw new DamagedLog(`Yjs cannot read it: ${String(error)}`, { cause: error })
  }
}

/** The shortest update with the whole document. */
export function snapshot(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc)
}
