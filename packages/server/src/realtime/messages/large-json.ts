import { limits } from '@plenum/protocol/realtime'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { DocumentThreads, DocumentWork } from '../../crdt/document-threads.ts'
import { TooMuchWork } from '../../crdt/content/errors.ts'
import { checkMessage, type ReadResult, storedFields } from './message.ts'
import { parseMessage } from './parse.ts'
import { mergeJson } from '../../store/documents/json-members.ts'

/** Up to this size, JSON is read and merged in the event loop. The slowest JSON of this size takes 12 ms. */
export const maxInlineJsonBytes = 32 * 1024

/** Work that exceeds the quota of its API key is retried after this time. */
const retryMs = 50

/** Reads and merges large JSON of clients in threads, because the slowest message of 1 MiB takes 60 ms to read. */
export interface LargeJson {
  /** Reads the message in a text frame. */
  read(apiKey: string, bytes: Buffer): Promise<ReadResult>
  /** Sets the keys of the object `above` in the object `below`. Resolves with undefined if the result exceeds `maxBytes`. */
  merge(apiKey: string, below: string, above: string, maxBytes: number): Promise<string | undefined>
}

export function createLargeJson(
  threads: Pick<DocumentThreads, 'run'>,
  clock: Clock = systemClock,
): LargeJson {
  let runs = 0
  /** Retries while the API key has too much work in progress. Clients whose messages wait to be read are on hold. */
  const run = async <T>(
    apiKey: string,
    work: Omit<DocumentWork<T>, 'source' | 'inlineBytes'>,
  ): Promise<T> => {
    const source = { apiKey, content: `${runs++}` }
    for (;;) {
      try {
        return await threads.run({ ...work, source, inlineBytes: maxInlineJsonBytes })
      } catch (error) {
        if (!(error instanceof TooMuchWork)) throw error
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, retryMs))
      }
    }
  }
  return {
    async read(apiKey, bytes) {
      const parsed = await run(apiKey, {
        kind: 'parseMessage',
        parts: [bytes],
        args: [limits.jsonBytes, storedFields],
        inline: () => parseMessage(bytes, limits.jsonBytes, storedFields),
      })
      return checkMessage(parsed)
    },
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
