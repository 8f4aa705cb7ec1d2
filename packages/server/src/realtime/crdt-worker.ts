// The work on large documents, in a thread of its own.
import { parentPort } from 'node:worker_threads'
import { compact, diff, merge } from './crdt-work.ts'
import { DamagedLog, DocumentIndex } from './document-index.ts'

/** The parts lie one behind the other in one buffer: thousands of small ones would cost too much to send. */
export interface Task {
  kind: 'merge' | 'diff' | 'compact' | 'index'
  bytes: Uint8Array
  sizes: Float64Array
  stateVector: Uint8Array
}

/** An index is sent as its numbers. */
export type Answer =
  | { ok: true; value: Uint8Array | Float64Array }
  | { ok: false; reason: string; isDamage: boolean }

function run({ kind, bytes, sizes, stateVector }: Task): Uint8Array | Float64Array {
  let end = 0
  const parts = Array.from(sizes, (size) => bytes.subarray(end, (end += size)))
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

function answer(task: Task): Answer {
  try {
    return { ok: true, value: run(task) }
  } catch (error) {
    return { ok: false, reason: String(error), isDamage: error instanceof DamagedLog }
  }
}

parentPort?.on('message', (task: Task) => {
  const result = answer(task)
  parentPort?.postMessage(result, result.ok ? [result.value.buffer as ArrayBuffer] : [])
})
