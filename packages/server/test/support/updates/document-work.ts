import { inject } from 'vitest'
import { DocumentThreads, type DocumentThreadsOptions } from '../../../src/crdt/document-threads.ts'
import { sizeOf } from '../../../src/crdt/content/parts.ts'
import { createStoredDocuments, type StoredDocuments } from '../../../src/crdt/stored-documents.ts'
import { createCrdt, type Crdt } from '../../../src/crdt/crdt.ts'
import { startWorker } from '../../../src/platform/threads/worker.ts'

/** The threads of a server. They start from a bundle, which takes a tenth of the time of a start from the sources. */
export const createDocumentThreads = (options?: DocumentThreadsOptions): DocumentThreads => {
  const server = inject('compiledServer')
  return new DocumentThreads(() => startWorker('worker', server), options)
}

interface Options extends DocumentThreadsOptions {
  inlineBytes?: number
}

type Args<Method> = Method extends (source: never, ...args: infer Rest) => unknown ? Rest : never

/** The same methods without the source: every call works on its own document, and all belong to one API key. */
type WithoutSource<T> = {
  [Name in keyof T]: T[Name] extends (...args: never) => infer Result
    ? (...args: Args<T[Name]>) => Result
    : never
}

let documents = 0

function withoutSource<T extends object>(work: T): WithoutSource<T> {
  const entries = Object.entries(work).map(([name, method]: [string, (...args: unknown[]) => unknown]) => [
    name,
    (...args: unknown[]) => method({ apiKey: 'key', content: String(++documents) }, ...args),
  ])
  return Object.fromEntries(entries) as WithoutSource<T>
}

/** Creates the `Crdt` that open editors use, with its own threads. */
export function testCrdt({ inlineBytes, ...options }: Options = {}) {
  const threads = createDocumentThreads(options)
  const crdt: WithoutSource<Crdt> = withoutSource(createCrdt(threads, { inlineBytes }))
  return { ...crdt, close: () => threads.close() }
}

/** Creates the `StoredDocuments` that REST uses, with their own threads. */
export function testStoredDocuments({ inlineBytes = 4 * 1024, ...options }: Options = {}) {
  const threads = createDocumentThreads(options)
  const limits = { inlineBytes, waitMs: 30_000 }
  const documents: WithoutSource<StoredDocuments> = withoutSource(createStoredDocuments(threads, limits))
  return { ...documents, close: () => threads.close() }
}

/** Does all work in the calling thread, even on a busy machine. Throws if the documents are too large for that. */
export const smallCrdt = (): Crdt =>
  createCrdt({
    async run({ parts, argsBytes = 0, inlineBytes, inline }) {
      if (sizeOf(parts) + argsBytes > inlineBytes) throw new Error('No thread is expected here.')
      return inline()
    },
  })
