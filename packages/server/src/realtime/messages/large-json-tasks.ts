import type { ThreadTasks } from '../../crdt/document-tasks.ts'
import { mergeJson } from '../../store/documents/json-members.ts'
import { parseMessage } from './parse.ts'

const nothing = new Uint8Array()

type ParseOptions = Parameters<typeof parseMessage> extends [Buffer, ...infer Rest] ? Rest : never

/** The tasks that the threads run for `createLargeJson`. */
export const largeJsonTasks: ThreadTasks = {
  parseMessage: ([bytes = nothing], ...options: ParseOptions) =>
    parseMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), ...options),
  mergeJson: (_parts, ...texts: Parameters<typeof mergeJson>) => ({ json: mergeJson(...texts) }),
}
