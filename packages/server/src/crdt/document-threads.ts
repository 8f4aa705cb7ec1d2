import type { Worker } from 'node:worker_threads'
import { isLoopHeld } from '../platform/turns/loop-time.ts'
import { ThreadTimeout } from '../platform/threads/thread.ts'
import { LaneFull, type PoolOptions, ThreadPool, ThreadsBusy } from '../platform/threads/thread-pool.ts'
import { resultOf } from '../platform/threads/worker.ts'
import { Busy, DamagedLog, DamagedVersion, TooMuchWork, TooSlow, UnfitContent } from './content/errors.ts'
import { pack, type Parts, sizeOf, timeLimitFor } from './content/parts.ts'
import { XmlError } from './content/xml/xml.ts'
import type { TaskMessage } from './document-tasks.ts'

/** Where a document comes from. */
export interface Source {
  /** The owner of the document. */
  apiKey: string
  /** Names the state of the document: the same work on the same state gives the same result. */
  content: string
}

/** Names the state of a stored editor after the update with number `seq`. */
export const sourceOf = (
  apiKey: string,
  { organizationId, documentId, editorId }: { organizationId: string; documentId: string; editorId: string },
  { createdAt, seq }: { createdAt: number | undefined; seq: number },
): Source => ({
  apiKey,
  content: JSON.stringify([organizationId, documentId, editorId, createdAt, seq]),
})

export interface DocumentWork<T> {
  /** The name of the task, one of the worker's `ThreadTasks`. */
  kind: string
  source: Source
  parts: Parts
  args?: readonly unknown[]
  /** The size of the arguments. The size of the parts is added to it. */
  argsBytes?: number
  /**
   * Does the same work on the event loop. Used if parts and arguments have up to `inlineBytes`, unless the event loop is
   * late.
   */
  inline: () => T
  inlineBytes: number
  isBackground?: boolean
  waitMs?: number
  /** A lower limit for the time in a thread than the size of the document gives. */
  limitMs?: number
}

export interface DocumentThreadsOptions extends PoolOptions {
  /** Work in a thread that takes longer fails. Work on small documents has a shorter limit. */
  limitMs?: number
}

/**
 * Runs work on stored documents: on the event loop if they are small and it is not late, otherwise in threads that all API
 * keys share fairly. REST and open editors use the same threads.
 */
export class DocumentThreads {
  readonly #pool: ThreadPool
  readonly #limitMs: number

  constructor(start: () => Promise<Worker>, { limitMs = Infinity, ...options }: DocumentThreadsOptions = {}) {
    this.#pool = new ThreadPool(start, options)
    this.#limitMs = limitMs
  }

  /** Fails with an error of `content/errors.ts`, or with another error if the work throws one or ends the thread. */
  async run<T>(work: DocumentWork<T>): Promise<T> {
    const { kind, source, parts, args = [], argsBytes = 0, isBackground, waitMs, limitMs = Infinity } = work
    const bytes = sizeOf(parts) + argsBytes
    // Many small documents in a row block the event loop as long as a large one.
    if (bytes <= work.inlineBytes && !isLoopHeld()) return work.inline()
    const message = () => {
      const packed = pack(parts)
      const task: TaskMessage = { kind, args, ...packed }
      const transfer = [packed.bytes.buffer, packed.sizes.buffer] as ArrayBuffer[]
      return { value: task, transfer, limitMs: Math.min(this.#limitMs, limitMs, timeLimitFor(bytes)) }
    }
    const content = `${kind} ${source.apiKey} ${source.content}`
    try {
      const answer = await this.#pool.run({
        lane: source.apiKey,
        content,
        bytes,
        isBackground,
        waitMs,
        message,
      })
      return resultOf(answer, errors) as T
    } catch (error) {
      if (error instanceof ThreadTimeout) throw new TooSlow(error.message, { cause: error })
      if (error instanceof ThreadsBusy) throw new Busy(error.message, { cause: error })
      if (error instanceof LaneFull) throw new TooMuchWork(error.message, { cause: error })
      throw error
    }
  }

  /** Ends the threads. Work in progress fails. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}

const errors = { DamagedLog, DamagedVersion, UnfitContent, XmlError }
