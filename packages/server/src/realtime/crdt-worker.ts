// The work on large documents, in a thread of its own.
import { type PackedParts, unpack } from '../editors/parts.ts'
import { answerTasks } from '../platform/worker.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { DocumentIndex } from './document-index.ts'

export interface Task extends PackedParts {
  kind: 'merge' | 'diff' | 'compact' | 'index'
  stateVector: Uint8Array
}

/** An index is sent as its numbers. */
function run({ kind, stateVector, ...packed }: Task): Uint8Array | Float64Array {
  const parts = unpack(packed)
  switch (kind) {
    case 'merge':
      return merge(parts)
    case 'diff':
      return diff(parts, stateVector)
    case 'compact':
      return compact(parts)
    case 'index':
      return DocumentIndex.of(parts).toMessage()
  }
}

answerTasks(run)
