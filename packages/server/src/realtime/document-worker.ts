// All work on stored documents and on JSON of clients that may take long, in a thread.
import { limits } from '@plenum/protocol/realtime'
import type { Task } from '../editors/document-threads.ts'
import { type Parts, unpack } from '../editors/parts.ts'
import { storedWork } from '../editors/stored-work.ts'
import { answerTasks } from '../platform/worker.ts'
import { mergeJson } from '../store/json-members.ts'
import { compact, diff, merge } from './crdt-work.ts'
import { DocumentIndex } from './document-index.ts'
import { tryReadMessage } from './json-message.ts'

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
