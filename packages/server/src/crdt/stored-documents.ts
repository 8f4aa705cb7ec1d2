import type { DocumentThreads, Source } from './document-threads.ts'
import type { Parts } from './content/parts.ts'
import type { Contents } from './content/roots.ts'
import { type Change, type Replacement, storedWork, type StoredWork } from './stored-work.ts'

/** Work on stored documents, for REST. A document is given as a snapshot and the updates after it. */
export interface StoredDocuments {
  /** The content as JSON, in UTF-8. */
  render(source: Source, parts: Parts, declared: Contents): Promise<Uint8Array>
  /** A snapshot of the document, with the type and key of its content. */
  capture(source: Source, parts: Parts, declared: Contents): Promise<ReturnType<StoredWork['capture']>>
  /** Replaces the content. Returns the update and, if that has at least `snapshotFrom` bytes, also a snapshot. */
  replace(
    source: Source,
    parts: Parts,
    declared: Contents,
    replacement: Replacement,
    snapshotFrom: number,
  ): Promise<ReturnType<StoredWork['replace']>>
  /** Returns the key of the root that the sent declaration refers to. Fails if the declaration contradicts the content. */
  declare(source: Source, parts: Parts, declared: Contents, sent: Partial<Contents>): Promise<string>
  /** Restores a document to a version. */
  restore(source: Source, parts: Parts, version: Uint8Array, snapshotFrom: number): Promise<Change>
}

/**
 * Documents up to this size are processed on the event loop, unless it is late. A hostile document of this size takes Yjs
 * 20 ms.
 */
const inlineBytes = 4 * 1024
/** How long a request waits for a thread. */
const waitMs = 30_000

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
    return threads.run({ kind, source, parts, args, argsBytes, inline, ...limits })
  }

  return {
    render: (source, parts, declared) => run('render', source, 0, parts, onlyDeclared(declared)),
    capture: (source, parts, declared) => run('capture', source, 0, parts, onlyDeclared(declared)),
    replace(source, parts, declared, replacement, snapshotFrom) {
      const { length } = replacement.json ?? replacement.text ?? ''
      return run('replace', source, length, parts, onlyDeclared(declared), replacement, snapshotFrom)
    },
    declare: (source, parts, declared, sent) =>
      run('declare', source, 0, parts, onlyDeclared(declared), sent),
    restore: (source, parts, version, snapshotFrom) =>
      run('restore', source, 0, [...parts, version], snapshotFrom),
  }
}

type AnyWork = (parts: Parts, ...args: readonly unknown[]) => unknown

/** Copies only the fields that the thread needs. Otherwise all fields of the object would be sent to it. */
const onlyDeclared = ({ type, contentKey }: Contents): Contents => ({ type, contentKey })
