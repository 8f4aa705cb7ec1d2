// The work on stored documents for REST, in a thread of its own.
import { answerTasks } from '../platform/worker.ts'
import { type PackedParts, unpack } from './parts.ts'
import { runStored, type StoredWork } from './stored-work.ts'

export interface Task extends PackedParts {
  kind: keyof StoredWork
  args: readonly unknown[]
}

answerTasks(({ kind, args, ...packed }: Task) => runStored(kind, unpack(packed), args))
