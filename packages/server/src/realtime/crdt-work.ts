import * as Y from 'yjs'
import { DamagedLog } from './document-index.ts'

/** An update that changes nothing. */
const nothing = Uint8Array.of(0, 0)

/** Yjs sorts all that it merges again for each struct: 20,000 updates at once take seconds. */
const mergedAtOnce = 32

/**
 * Yjs joins the new items of an array when a transaction ends, in time and memory quadratic in their number: 40,000 that
 * came one by one end the process. Here a transaction has a few thousand at most.
 */
const transaction = { parts: 256, bytes: 32 * 1024 }

/** Merged updates are one transaction for those who receive them, so there must not be more that is not joined. */
const maxLooseBytes = 64 * 1024

/** One update that has what all of them have. */
export function merge(parts: readonly Uint8Array[]): Uint8Array {
  if (mustJoin(parts)) return compact(parts)
  let rest = parts
  while (rest.length > mergedAtOnce) {
    rest = batches(rest, { parts: mergedAtOnce, bytes: Infinity }).map((some) => Y.mergeUpdates(some))
  }
  return rest.length === 0 ? nothing : Y.mergeUpdates([...rest])
}

/** Whether there is much besides the largest part, which is the snapshot and has been joined. */
export function mustJoin(parts: readonly Uint8Array[]): boolean {
  let size = 0
  let largest = 0
  for (const { length } of parts) {
    size += length
    largest = Math.max(largest, length)
  }
  return size - largest > maxLooseBytes
}

/** What a document with that state vector lacks, with all that is deleted. */
export function diff(parts: readonly Uint8Array[], stateVector: Uint8Array): Uint8Array {
  return knowsNothing(stateVector) ? merge(parts) : Y.diffUpdate(merge(parts), stateVector)
}

/** Whether it is the state vector of an empty document. */
export const knowsNothing = (stateVector: Uint8Array) => stateVector.length === 1 && stateVector[0] === 0

/** The shortest update that has the same meaning: what is deleted is collected, and what fits together is joined. */
export function compact(parts: readonly Uint8Array[]): Uint8Array {
  const doc = new Y.Doc()
  for (const some of batches(parts, transaction)) {
    doc.transact(() => {
      for (const part of some) Y.applyUpdate(doc, part)
    })
  }
  const { pendingStructs, pendingDs } = doc.store
  if (pendingStructs !== null || pendingDs !== null)
    throw new DamagedLog('Parts of the document are missing.')
  return Y.encodeStateAsUpdate(doc)
}

function batches(parts: readonly Uint8Array[], limit: { parts: number; bytes: number }): Uint8Array[][] {
  const result: Uint8Array[][] = []
  let batch: Uint8Array[] = []
  let bytes = 0
  for (const part of parts) {
    if (batch.length === 0 || batch.length === limit.parts || bytes + part.length > limit.bytes) {
      batch = []
      bytes = 0
      result.push(batch)
    }
    batch.push(part)
    bytes += part.length
  }
  return result
}
