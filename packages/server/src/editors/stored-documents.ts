import { TookTooLong } from '../platform/thread.ts'
import { Threads, ThreadsBusy } from '../platform/threads.ts'
import { startWorker, valueOf } from '../platform/worker.ts'
import type { Task } from './editor-worker.ts'
import { Busy, DamagedLog, DamagedVersion, TooSlow, UnfitContent } from './errors.ts'
import { pack, type Parts, patienceFor, sizeOf } from './parts.ts'
import { type Change, type Contents, type Replacement, runStored, type StoredWork } from './stored-work.ts'
import { XmlError } from './xml.ts'

/**
 * What REST does with stored documents, given as a snapshot and the updates after it. What is small is done at once, the
 * rest in threads. Fails with one of the errors in `errors.ts`, and anything else if the thread dies of it.
 */
export interface StoredDocuments {
  /** The content as JSON, in UTF-8. */
  render(parts: Parts, said: Contents): Promise<Uint8Array>
  /** The whole of a document, and what it holds. */
  capture(parts: Parts, said: Contents): Promise<ReturnType<StoredWork['capture']>>
  /** Gives a document other content; with a snapshot if the update has at least that many bytes. */
  replace(
    parts: Parts,
    said: Contents,
    replacement: Replacement,
    snapshotFrom: number,
  ): Promise<ReturnType<StoredWork['replace']>>
  /** Gives a document the content of a version of it. */
  restore(parts: Parts, version: Uint8Array, snapshotFrom: number): Promise<Change>
  /** What is under way fails. */
  close(): Promise<void>
}

export interface StoredDocumentsOptions {
  /** Up to this size the event loop can wait for it: 20 ms at worst, where `patienceFor` says a hundred times more. */
  inlineBytes?: number
  /** All but `render` happens inside of a transaction, and on SQLite nobody else writes meanwhile. */
  transactionMs?: number
  /** What may wait for a thread; more is refused, because it is held in memory. */
  waitingBytes?: number
}

export function createStoredDocuments({
  inlineBytes = 4 * 1024,
  transactionMs = 5_000,
  waitingBytes = 256 * 1024 * 1024,
}: StoredDocumentsOptions = {}): StoredDocuments {
  // Whoever reads does not keep a transaction waiting. On SQLite there is one at a time, so the fourth is not started.
  const threads = new Threads(() => startWorker('editor-worker', import.meta.url), 4)
  const writes = {
    lane: threads.lane({ atMost: 4, waitMs: transactionMs / 5 }),
    limitMs: (_bytes: number, waitedMs: number) => transactionMs - waitedMs,
  }
  const reads = {
    lane: threads.lane({ atMost: 2, waitMs: 30_000 }),
    limitMs: patienceFor,
  }
  let bytesUnderWay = 0

  async function run<K extends keyof StoredWork>(
    { lane, limitMs }: typeof writes,
    size: number,
    kind: K,
    ...input: Parameters<StoredWork[K]>
  ): Promise<ReturnType<StoredWork[K]>> {
    const [parts, ...args] = input
    if (size <= inlineBytes) return runStored(kind, parts, args) as ReturnType<StoredWork[K]>
    if (lane === reads.lane && bytesUnderWay > 0 && bytesUnderWay + size > waitingBytes) {
      throw new Busy('Too much waits for a thread.')
    }
    bytesUnderWay += size
    try {
      const message = (waitedMs: number) => {
        const packed = pack(parts)
        const task: Task = { kind, args, ...packed }
        const transfer = [packed.bytes.buffer, packed.sizes.buffer] as ArrayBuffer[]
        return { value: task, transfer, limitMs: limitMs(size, waitedMs) }
      }
      return valueOf(await lane.ask(message), errors) as ReturnType<StoredWork[K]>
    } catch (error) {
      if (error instanceof TookTooLong) throw new TooSlow(error.message, { cause: error })
      if (error instanceof ThreadsBusy) throw new Busy(error.message, { cause: error })
      throw error
    } finally {
      bytesUnderWay -= size
    }
  }

  return {
    render: (parts, said) => run(reads, sizeOf(parts), 'render', parts, saidOf(said)),
    capture: (parts, said) => run(writes, sizeOf(parts), 'capture', parts, saidOf(said)),
    replace(parts, said, replacement, snapshotFrom) {
      const size = sizeOf(parts) + replacement.text.length
      return run(writes, size, 'replace', parts, saidOf(said), replacement, snapshotFrom)
    },
    restore(log, version, snapshotFrom) {
      const parts = [...log, version]
      return run(writes, sizeOf(parts), 'restore', parts, snapshotFrom)
    },
    close: () => threads.close(),
  }
}

const errors = { DamagedLog, DamagedVersion, UnfitContent, XmlError }

/** Without anything else that is known of the editor, which would be sent to the thread too. */
const saidOf = ({ type, contentKey }: Contents): Contents => ({ type, contentKey })
