import type { DocumentThreads, Source } from './document-threads.ts'
import type { Parts } from './content/parts.ts'
import type { Contents } from './content/roots.ts'
import { type Change, type Replacement, storedWork, type StoredWork } from './stored-work.ts'

/** What REST does with stored documents, given as a snapshot and the updates after it. */
export interface StoredDocuments {
  /** The content as JSON, in UTF-8. */
  render(source: Source, parts: Parts, declared: Contents): Promise<Uint8Array>
  /** The whole of a document, and what it holds. */
  capture(source: Source, parts: Parts, declared: Contents): Promise<ReturnType<StoredWork['capture']>>
  /** Gives a document other content; with a snapshot if the update has at least that many bytes. */
  replace(
    source: Source,
    parts: Parts,
    declared: Contents,
    replacement: Replacement,
    snapshotFrom: number,
  ): Promise<ReturnType<StoredWork['replace']>>
  /** The root that a later declaration means; fails if it contradicts what the document holds. */
  declare(source: Source, parts: Parts, declared: Contents, sent: Partial<Contents>): Promise<string>
  /** Gives a document the content of a version of it. */
  restore(source: Source, parts: Parts, version: Uint8Array, snapshotFrom: number): Promise<Change>
}

/** A document of that size that was made to be slow takes Yjs 20 ms. */
const inlineBytes = 4 * 1024
/** How long a caller waits for a thread. */
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

/** Without anything else that is known of the editor, which would be sent to the thread too. */
const onlyDeclared = ({ type, contentKey }: Contents): Contents => ({ type, contentKey })
