import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AnchoredRange, SentRange } from './content/anchors.ts'
import type { DocumentThreads, Source } from './document-threads.ts'
import { type Parts, sizeOf } from './content/parts.ts'
import type { Contents } from './content/roots.ts'
import { type Change, type Replacement, storedWork, type StoredWork } from './stored-work.ts'

/** Work on stored documents, for REST. A document is given as a snapshot and the updates after it. */
export interface StoredDocuments {
  /** The content as JSON, in UTF-8. */
  render(source: Source, parts: Parts, declared: Contents): Promise<Uint8Array>
  /** A snapshot of the document, with the type and key of its content. */
  capture(source: Source, parts: Parts, declared: Contents): Promise<ReturnType<StoredWork['capture']>>
  /** Replaces the content by each of the replacements, one after the other. Returns one update and, if that has at least `snapshotFrom` bytes, also a snapshot. */
  replace(
    source: Source,
    parts: Parts,
    declared: Contents,
    replacements: readonly Replacement[],
    snapshotFrom: number,
  ): Promise<ReturnType<StoredWork['replace']>>
  /** Returns the key of the root that the sent declaration refers to. Fails if the declaration contradicts the content. */
  declare(source: Source, parts: Parts, declared: Contents, sent: Partial<Contents>): Promise<string>
  /** Restores a document to a version. */
  restore(source: Source, parts: Parts, version: Uint8Array, snapshotFrom: number): Promise<Change>
  /** Turns sent ranges into the form in which they are stored. */
  anchor(
    source: Source,
    parts: Parts,
    declared: Contents,
    ranges: readonly SentRange[],
  ): Promise<ReturnType<StoredWork['anchor']>>
  /** Finds out where stored ranges are now. Fails earlier than other work, because callers can do without the result. */
  locate(
    source: Source,
    parts: Parts,
    ranges: readonly AnchoredRange[],
  ): Promise<ReturnType<StoredWork['locate']>>
}

/**
 * Documents up to this size are processed on the event loop, unless it is late. A hostile document of this size takes Yjs
 * 20 ms.
 */
const inlineBytes = 4 * 1024
/** How long a request waits for a thread. */
const waitMs = 30_000
/** The limits of `locate`. A document of 10 MiB takes about two seconds. */
const locateLimits = { waitMs: 2_000, limitMs: 10_000 }
/** A byte of a stored document takes Yjs as long as this many bytes of new content. */
const costOfStored = 4
/** Ranges count as this many bytes of the document, so that many of them are processed in a thread. */
const bytesPerRange = 32

/** The memory for the content of small documents that are read again and again. */
const maxRenderedBytes = 16 * 1024 * 1024
/** What an entry takes besides the content. */
const entryBytes = 512

export function createStoredDocuments(
  threads: Pick<DocumentThreads, 'run'>,
  limits = { inlineBytes, waitMs },
): StoredDocuments {
  function run<K extends keyof StoredWork>(
    kind: K,
    source: Source,
    argsBytes: number,
    ...[parts, ...args]: Parameters<StoredWork[K]>
  ): Promise<ReturnType<StoredWork[K]>> {
    const inline = () => (storedWork[kind] as AnyWork)(parts, ...args) as ReturnType<StoredWork[K]>
    const own = kind === 'locate' ? locateLimits : undefined
    return threads.run({ kind, source, parts, args, argsBytes, inline, ...limits, ...own })
  }

  /** The content of small documents. The same bytes have the same content, so that nothing here can be out of date. */
  const rendered = new LRUCache<string, Uint8Array>({
    maxSize: maxRenderedBytes,
    sizeCalculation: (json) => json.length + entryBytes,
  })

  return {
    async render(source, parts, declared) {
      if (sizeOf(parts) > limits.inlineBytes) return run('render', source, 0, parts, onlyDeclared(declared))
      const key = digestOf(source, parts, declared)
      let json = rendered.get(key)
      if (!json) {
        json = await run('render', source, 0, parts, onlyDeclared(declared))
        rendered.set(key, json)
      }
      return json
    },
    capture: (source, parts, declared) => run('capture', source, 0, parts, onlyDeclared(declared)),
    replace(source, parts, declared, replacements, snapshotFrom) {
      let length = 0
      for (const { json, text } of replacements) length += (json ?? text ?? '').length
      return run(
        'replace',
        source,
        length / costOfStored,
        parts,
        onlyDeclared(declared),
        replacements,
        snapshotFrom,
      )
    },
    declare: (source, parts, declared, sent) =>
      run('declare', source, 0, parts, onlyDeclared(declared), sent),
    restore: (source, parts, version, snapshotFrom) =>
      run('restore', source, 0, [...parts, version], snapshotFrom),
    anchor: (source, parts, declared, ranges) =>
      run('anchor', source, ranges.length * bytesPerRange, parts, onlyDeclared(declared), ranges),
    locate: (source, parts, ranges) => run('locate', source, ranges.length * bytesPerRange, parts, ranges),
  }
}

/** Names the content of a document of this API key. */
function digestOf({ apiKey }: Source, parts: Parts, { type, contentKey }: Contents): string {
  const hash = createHash('sha256').update(JSON.stringify([apiKey, type, contentKey, parts.map(lengthOf)]))
  for (const part of parts) hash.update(part)
  return hash.digest('base64')
}

const lengthOf = ({ length }: Uint8Array) => length

type AnyWork = (parts: Parts, ...args: readonly unknown[]) => unknown

/** Copies only the fields that the thread needs. Otherwise all fields of the object would be sent to it. */
const onlyDeclared = ({ type, contentKey }: Contents): Contents => ({ type, contentKey })
