import { answerTasks } from '../platform/threads/worker.ts'
import { type PackedParts, type Parts, unpack } from './content/parts.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { storedWork } from './stored-work.ts'
import { DocumentIndex } from './updates/document-index.ts'

/** The message that gives a thread a task. */
export interface TaskMessage extends PackedParts {
  kind: string
  args: readonly unknown[]
}

/** The functions that a thread can run, by the kind of the task. */
export type ThreadTasks = Readonly<Record<string, (parts: Parts, ...args: readonly never[]) => unknown>>

/** An index is sent back as its numbers, because a message cannot contain objects of a class. */
const documentTasks: ThreadTasks = {
  ...storedWork,
  merge,
  diff,
  compact,
  index: (parts) => DocumentIndex.of(parts).toMessage(),
}

/** Runs in the thread. Answers each message with the result of its task: one on documents, or one of `otherTasks`. */
export function answerThreadTasks(otherTasks: ThreadTasks): void {
  const tasks = { ...documentTasks, ...otherTasks }
  answerTasks(({ kind, args, ...packed }: TaskMessage) => tasks[kind]?.(unpack(packed), ...(args as never[])))
}
