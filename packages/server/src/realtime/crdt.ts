import { DamagedLog } from '../editors/errors.ts'
import { pack, type Parts, patienceFor, sizeOf } from '../editors/parts.ts'
import { Threads } from '../platform/threads.ts'
import { startWorker, valueOf } from '../platform/worker.ts'
import { compact, diff, knowsNothing, merge, mustJoin } from './crdt-work.ts'
import type { Task } from './crdt-worker.ts'
import { DocumentIndex } from './document-index.ts'

/**
 * Work on stored documents, given as a snapshot and the updates after it. All of it must have been judged before. What is
 * small is done at once, the rest in threads. A log that is damaged fails with `DamagedLog`.
 */
export interface Crdt {
  /** One update that has what all parts have. */
  merge(parts: Parts): Promise<Uint8Array>
  /** What a document with that state vector lacks, with all that is deleted. */
  diff(parts: Parts, stateVector: Uint8Array): Promise<Uint8Array>
  /** The shortest update that has the same meaning. */
  compact(parts: Parts): Promise<Uint8Array>
  index(parts: Parts): Promise<DocumentIndex>
  /** What is under way fails. */
  close(): Promise<void>
}

export interface CrdtOptions {
  /** Up to this size in total, the event loop can wait for it. */
  inlineBytes?: number
  /** What takes longer ends the thread; what is small, earlier. */
  limitMs?: number
}

/**
 * For Yjs to build a document takes about 0.2 ms for each KiB. One that was made to be slow, by items of two clients for
 * the same place, takes time in the square of its size: 20 ms for 4 KiB, 18 s for 120.
 */
const inlineShareToBuild = 1 / 32

export function createCrdt({ inlineBytes = 128 * 1024, limitMs = Infinity }: CrdtOptions = {}): Crdt {
  const threads = new Threads(() => startWorker('crdt-worker', import.meta.url), 2)
  const opening = threads.lane({ atMost: 2 })
  // Nobody waits for a compaction, so whoever opens a document must not wait for one either.
  const compacting = threads.lane({ atMost: 1 })

  const isInline = (parts: Parts, isBuilt: boolean) =>
    sizeOf(parts) <= inlineBytes * (isBuilt ? inlineShareToBuild : 1)
  const ask = async (kind: Task['kind'], parts: Parts, stateVector: Uint8Array = new Uint8Array()) => {
    const message = () => {
      const packed = pack(parts)
      const task: Task = { kind, ...packed, stateVector: Uint8Array.from(stateVector) }
      const transfer = [packed.bytes.buffer, packed.sizes.buffer] as ArrayBuffer[]
      return { value: task, transfer, limitMs: Math.min(limitMs, patienceFor(packed.bytes.length)) }
    }
    const lane = kind === 'compact' ? compacting : opening
    return valueOf(await lane.ask(message), { DamagedLog })
  }
  const askForBytes = async (...task: Parameters<typeof ask>) => (await ask(...task)) as Uint8Array
  const mergeParts = async (parts: Parts) => {
    const isMergedInline = parts.length < 2 || isInline(parts, mustJoin(parts))
    return isMergedInline ? merge(parts) : askForBytes('merge', parts)
  }

  return {
    merge: mergeParts,
    async diff(parts, stateVector) {
      if (knowsNothing(stateVector)) return mergeParts(parts)
      const isDiffedInline = isInline([...parts, stateVector], mustJoin(parts))
      return isDiffedInline ? diff(parts, stateVector) : askForBytes('diff', parts, stateVector)
    },
    async compact(parts) {
      return isInline(parts, true) ? compact(parts) : askForBytes('compact', parts)
    },
    async index(parts) {
      if (isInline(parts, false)) return DocumentIndex.of(parts)
      return DocumentIndex.fromMessage((await ask('index', parts)) as Float64Array)
    },
    close: () => threads.close(),
  }
}
