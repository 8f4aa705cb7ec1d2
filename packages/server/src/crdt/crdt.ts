import type { DocumentThreads, DocumentWork, Source } from './document-threads.ts'
import type { Parts } from './content/parts.ts'
import { compact, diff, knowsNothing, merge, mustCompact } from './crdt-work.ts'
import { DocumentIndex } from './updates/document-index.ts'

/**
 * Work on stored documents, for open editors. A document is given as a snapshot and the updates after it, all of which must
 * have been validated. Small documents are processed on the event loop unless it is late, others in threads. `compact` and
 * `index` fail with `DamagedLog` if the log is damaged. `merge` and `diff` may not notice it, or fail with another error.
 */
export interface Crdt {
  /** One update with the content of all parts. */
  merge(source: Source, parts: Parts): Promise<Uint8Array>
  /** An update with the structs that a document with this state vector lacks, and the whole delete set. */
  diff(source: Source, parts: Parts, stateVector: Uint8Array): Promise<Uint8Array>
  /** The shortest update with the same content. Other work goes first. */
  compact(source: Source, parts: Parts): Promise<Uint8Array>
  index(source: Source, parts: Parts): Promise<DocumentIndex>
}

/** Documents up to this size are processed on the event loop, unless it is late. */
const defaultInlineBytes = 128 * 1024

/**
 * Work that builds a `Y.Doc` runs on the event loop only up to this share of `inlineBytes`. Yjs takes about 0.2 ms per KiB
 * to build a document. A hostile document, with items of two clients at the same place, takes time quadratic in its size:
 * 20 ms for 4 KiB, 18 s for 120 KiB.
 */
const inlineShareToBuild = 1 / 32

export function createCrdt(
  threads: Pick<DocumentThreads, 'run'>,
  { inlineBytes = defaultInlineBytes }: { inlineBytes?: number } = {},
): Crdt {
  const buildInlineBytes = inlineBytes * inlineShareToBuild
  const inlineFor = (parts: Parts) => (mustCompact(parts) ? buildInlineBytes : inlineBytes)
  const mergeParts = async (source: Source, parts: Parts) => {
    const inline = () => merge(parts)
    if (parts.length < 2) return inline()
    return threads.run({ kind: 'merge', source, parts, inline, inlineBytes: inlineFor(parts) })
  }

  return {
    merge: mergeParts,
    async diff(source, parts, stateVector) {
      if (knowsNothing(stateVector)) return mergeParts(source, parts)
      const work: DocumentWork<Uint8Array> = {
        kind: 'diff',
        source,
        parts,
        args: [new Uint8Array(stateVector)],
        argsBytes: stateVector.length,
        inline: () => diff(parts, stateVector),
        inlineBytes: inlineFor(parts),
      }
      return threads.run(work)
    },
    compact: (source, parts) =>
      threads.run({
        kind: 'compact',
        source,
        parts,
        inline: () => compact(parts),
        inlineBytes: buildInlineBytes,
        isBackground: true,
      }),
    async index(source, parts) {
      const index = await threads.run<DocumentIndex | Float64Array>({
        kind: 'index',
        source,
        parts,
        inline: () => DocumentIndex.of(parts),
        inlineBytes,
      })
      return index instanceof DocumentIndex ? index : DocumentIndex.fromMessage(index)
    },
  }
}
