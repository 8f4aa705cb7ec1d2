// All work on stored documents that may take long, in a thread.
import type { Task } from '../editors/document-threads.ts'
import { type Parts, unpack } from '../editors/parts.ts'
import { storedWork } from '../editors/stored-work.ts'
import { answerTasks } from '../platform/worker.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { DocumentIndex } from './document-index.ts'

type Work = (parts: Parts, ...args: readonly never[]) => unknown

/** By the kind of a task. An index is sent as its numbers. */
const work: Readonly<Record<string, Work>> = {
  ...storedWork,
  merge,
  diff,
  compact,
  index: (parts) => DocumentIndex.of(parts).toMessage(),
}

answerTasks(({ kind, args, ...packed }: Task) => work[kind]?.(unpack(packed), ...(args as never[])))
