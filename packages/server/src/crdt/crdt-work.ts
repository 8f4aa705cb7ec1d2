import * as Y from 'yjs'
import { loadWhole, snapshot } from './content/load.ts'
import { batches } from './content/parts.ts'

/** An update that changes nothing. */
const nothing = Uint8Array.of(0, 0)

/** Yjs sorts the updates again for each struct that it merges: merging 20,000 updates in one call takes seconds. */
const maxUpdatesPerMerge = 32

/**
 * With more bytes beside the snapshot, the parts are compacted instead of merged: clients apply a merged update in one
 * transaction, in which Yjs may join many items (see `maxPerTransaction` in `content/load.ts`).
 */
const maxUncompactedBytes = 64 * 1024

/** Returns one update with the content of all parts. */
export function merge(parts: readonly Uint8Array[]): Uint8Array {
  return mustCompact(parts) ? compact(parts) : mergeMany(parts)
}

/** Merges any number of updates, which need not be a whole document. Never compacts them. */
export function mergeMany(updates: readonly Uint8Array[]): Uint8Array {
  let rest = updates
  while (rest.length > maxUpdatesPerMerge) {
    rest = batches(rest, { parts: maxUpdatesPerMerge, bytes: Infinity }).map((some) => Y.mergeUpdates(some))
  }
  return rest.length === 0 ? nothing : Y.mergeUpdates([...rest])
}

/** Whether the parts have many bytes beside the largest part, usually the snapshot. */
export function mustCompact(parts: readonly Uint8Array[]): boolean {
  let size = 0
  let largest = 0
  for (const { length } of parts) {
    size += length
    largest = Math.max(largest, length)
  }
  return size - largest > maxUncompactedBytes
}

/** Returns an update with the structs that a document with this state vector lacks, and the whole delete set. */
export function diff(parts: readonly Uint8Array[], stateVector: Uint8Array): Uint8Array {
  return knowsNothing(stateVector) ? merge(parts) : Y.diffUpdate(merge(parts), stateVector)
}

/** Whether the state vector is that of an empty document. */
export const knowsNothing = (stateVector: Uint8Array) => stateVector.length === 1 && stateVector[0] === 0

/** Returns the shortest update with the same content: Yjs garbage-collects deleted items and joins neighbours. */
export function compact(parts: readonly Uint8Array[]): Uint8Array {
  return snapshot(loadWhole(parts))
}
