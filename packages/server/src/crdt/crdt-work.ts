import * as Y from 'yjs'
import { loadWhole, snapshot } from './content/load.ts'
import { batches } from './content/parts.ts'

/** An update that changes nothing. */
const nothing = Uint8Array.of(0, 0)

/** Yjs sorts all that it merges again for each struct: 20,000 updates at once take seconds. */
const mergedAtOnce = 32

/** Merged updates are one transaction for those who receive them, so there must not be more that is not joined. */
const maxLooseBytes = 64 * 1024

/** One update that has what all of them have. */
export function merge(parts: readonly Uint8Array[]): Uint8Array {
  return mustJoin(parts) ? compact(parts) : mergeMany(parts)
}

/** The same for any number of updates, which need not be a whole document. */
export function mergeMany(updates: readonly Uint8Array[]): Uint8Array {
  let rest = updates
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
  return snapshot(loadWhole(parts))
}
