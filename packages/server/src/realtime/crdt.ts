import { Worker } from 'node:worker_threads'
import { compact, diff, knowsNothing, merge, mustJoin } from './crdt-work.ts'
import type { Answer, Task } from './crdt-worker.ts'
import { DamagedLog, DocumentIndex } from './document-index.ts'
import { Thread, type Message } from './thread.ts'

type Parts = readonly Uint8Array[]

/**
 * Work on stored documents, given as a snapshot and the updates after it. All of it must have been judged before. What is
 * small is done at once, the rest in a thread, one after the other. A log that is damaged fails with `DamagedLog`.
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
const patience = { ms: 5_000, msPerByte: 0.01 }

export function createCrdt({ inlineBytes = 128 * 1024, limitMs = 30_000 }: CrdtOptions = {}): Crdt {
  const thread = new Thread(startWorker)

  const isInline = (parts: Parts, isBuilt: boolean) => {
    let size = 0
    for (const part of parts) size += part.length
    return size <= inlineBytes * (isBuilt ? inlineShareToBuild : 1)
  }
  const ask = async (kind: Task['kind'], parts: Parts, stateVector: Uint8Array = new Uint8Array()) => {
    const answer = (await thread.ask(() => messageOf(kind, parts, stateVector, limitMs))) as Answer
    if (answer.ok) return answer.value
    throw answer.isDamage ? new DamagedLog(answer.reason) : new Error(answer.reason)
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
    close: () => thread.close(),
  }
}

/** Copies: a part may be a view of a large buffer that others use. */
function messageOf(kind: Task['kind'], parts: Parts, stateVector: Uint8Array, limitMs: number): Message {
  const sizes = Float64Array.from(parts, (part) => part.length)
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  const task: Task = { kind, bytes, sizes, stateVector: Uint8Array.from(stateVector) }
  return {
    value: task,
    transfer: [bytes.buffer, sizes.buffer],
    limitMs: Math.min(limitMs, patience.ms + bytes.length * patience.msPerByte),
  }
}

/** Beside this file, in the bundle or as a source. On Node 20, tsx has no part in a thread unless it is told there. */
function startWorker(): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./crdt-worker.js', import.meta.url), { execArgv: [] })
  }
  const source = JSON.stringify(new URL('./crdt-worker.ts', import.meta.url))
  const script = `import('tsx/esm/api').then((tsx) => (tsx.register(), import(${source})))`
  return new Worker(script, { eval: true, execArgv: ['--conditions=source'] })
}
