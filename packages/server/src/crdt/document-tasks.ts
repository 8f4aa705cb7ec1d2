import { answerTasks } from '../platform/threads/worker.ts'
import { type PackedParts, type Parts, unpack } from './content/parts.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { storedWork } from './stored-work.ts'
import { DocumentIndex } from './updates/document-index.ts'

/** The message to a thread. */
export interface TaskMessage extends PackedParts {
  kind: string
  args: readonly unknown[]
}

/** What a thread can do, by the kind of the task. */
export type ThreadTasks = Readonly<Record<string, (parts: Parts, ...args: readonly never[]) => unknown>>

/** An index is sent as its numbers. */
const documentTasks: ThreadTasks = {
  ...storedWork,
  merge,
  diff,
  compact,
  index: (parts) => DocumentIndex.of(parts).toMessage(),
}

/** Runs in the thread: answers each message with the result of its task. */
export function answerThreadTasks(otherTasks: ThreadTasks): void {
  const tasks = { ...documentTasks, ...otherTasks }
  answerTasks(({ kind, args, ...packed }: TaskMessage) => tasks[kind]?.(unpack(packed), ...(args as never[])))
}
