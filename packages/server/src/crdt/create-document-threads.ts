import { DocumentThreads, type DocumentThreadsOptions } from './document-threads.ts'
import { startWorker } from '../platform/threads/worker.ts'

/** The threads in which documents are built; REST and open editors share them. */
export const createDocumentThreads = (options?: DocumentThreadsOptions): DocumentThreads =>
  new DocumentThreads(() => startWorker('document-worker', import.meta.url), options)
