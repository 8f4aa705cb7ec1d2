import * as Y from 'yjs'
import { DamagedLog } from './errors.ts'
import { batches, type Parts } from './parts.ts'

/**
 * The client id of our own writes, always the same, so that they never grow the state vector. Right only
 * while the document was loaded from all that is stored, under the row's lock: then its clock goes on where
 * it stopped.
 */
export const serverClientId = 0xffff_ffff

/**
 * Yjs joins the new items of an array when a transaction ends, in time and memory quadratic in their number: 40,000 that
 * came one by one end the process. Here a transaction has a few thousand at most.
 */
const transaction = { parts: 256, bytes: 32 * 1024 }

/** The document that a snapshot and the updates after it describe. */
export function load(parts: Parts): Y.Doc {
  const doc = new Y.Doc()
  for (const some of batches(parts, transaction)) {
    doc.transact(() => {
      for (const part of some) Y.applyUpdate(doc, part)
    })
  }
  // Only now: Yjs gives a document another id when it applies an update that carries its own.
  doc.clientID = serverClientId
  return doc
}

/** The same, if nothing of it waits for an update that is nowhere and would be missing from the content. */
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

/** The shortest update that has the whole document. */
export function snapshot(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc)
}
