// All work on stored documents and on JSON of clients that may take long, in a thread.
import { limits } from '@plenum/protocol/realtime'
import type { Task } from './document-threads.ts'
import { type Parts, unpack } from './content/parts.ts'
import { storedWork } from './stored-work.ts'
import { answerTasks } from '../platform/threads/worker.ts'
import { mergeJson } from '../store/documents/json-members.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { DocumentIndex } from './updates/document-index.ts'
import { tryReadMessage } from '../realtime/messages/message.ts'

type Work = (parts: Parts, ...args: readonly never[]) => unknown

const nothing = new Uint8Array()

/** By the kind of a task. An index is sent as its numbers. */
const work: Readonly<Record<string, Work>> = {
  ...storedWork,
  merge,
  diff,
  compact,
  index: (parts) => DocumentIndex.of(parts).toMessage(),
  readMessage: ([bytes = nothing]) =>
    tryReadMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), limits.jsonBytes),
  mergeJson: (_parts, ...texts: Parameters<typeof mergeJson>) => ({ json: mergeJson(...texts) }),
}

answerTasks(({ kind, args, ...packed }: Task) => work[kind]?.(unpack(packed), ...(args as never[])))
