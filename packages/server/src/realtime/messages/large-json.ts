import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@plenum/protocol/realtime'
import type { ThreadTasks } from '../../crdt/document-tasks.ts'
import type { DocumentThreads, DocumentWork } from '../../crdt/document-threads.ts'
import { TooMuchWork } from '../../crdt/content/errors.ts'
import { type Reading, tryReadMessage } from './message.ts'
import { mergeJson } from '../../store/documents/json-members.ts'

/** The event loop reads and merges up to this size itself. The worst JSON of this size takes 12 ms. */
export const maxInlineJsonBytes = 32 * 1024

/** After this, work is tried again that the threads had no room for. */
const retryMs = 50

/** Work on large JSON of clients. To read the worst message of 1 MiB takes 60 ms, so that is done in threads. */
export interface LargeJson {
  /** A message in a text frame. */
  read(apiKey: string, bytes: Buffer): Promise<Reading>
  /** One object with the keys of another laid over it; undefined if that would be larger than `maxBytes`. */
  merge(apiKey: string, below: string, above: string, maxBytes: number): Promise<string | undefined>
}

const nothing = new Uint8Array()

/** What the threads do for `createLargeJson`. */
export const largeJsonTasks: ThreadTasks = {
  readMessage: ([bytes = nothing]) =>
    tryReadMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), limits.jsonBytes),
  mergeJson: (_parts, ...texts: Parameters<typeof mergeJson>) => ({ json: mergeJson(...texts) }),
}

export function createLargeJson(threads: Pick<DocumentThreads, 'run'>): LargeJson {
  let works = 0
  /** When the API key has too much work in progress it waits: its clients are not read meanwhile. */
  const run = async <T>(
    apiKey: string,
    work: Omit<DocumentWork<T>, 'source' | 'inlineBytes'>,
  ): Promise<T> => {
    const source = { apiKey, content: `${works++}` }
    for (;;) {
      try {
        return await threads.run({ ...work, source, inlineBytes: maxInlineJsonBytes })
      } catch (error) {
        if (!(error instanceof TooMuchWork)) throw error
        await pause(retryMs)
      }
    }
  }
  return {
    read: (apiKey, bytes) =>
      run(apiKey, {
        kind: 'readMessage',
        parts: [bytes],
        inline: () => tryReadMessage(bytes, limits.jsonBytes),
      }),
    async merge(apiKey, below, above, maxBytes) {
      const { json } = await run<{ json: string | undefined }>(apiKey, {
        kind: 'mergeJson',
        parts: [],
        args: [below, above, maxBytes],
        argsBytes: below.length + above.length,
        inline: () => ({ json: mergeJson(below, above, maxBytes) }),
      })
      return json
    },
  }
}
