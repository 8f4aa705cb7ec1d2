import type { DocumentThreads, DocumentWork, Source } from './document-threads.ts'
import type { Parts } from './content/parts.ts'
import { compact, diff, knowsNothing, merge, mustJoin } from './crdt-work.ts'
import { DocumentIndex } from './updates/document-index.ts'

/**
 * Work on stored documents, given as a snapshot and the updates after it. All of it must have been judged before. What is
 * small is done at once, the rest in threads. A log that is damaged fails with `DamagedLog`.
 */
export interface Crdt {
  /** One update that has what all parts have. */
  merge(source: Source, parts: Parts): Promise<Uint8Array>
  /** What a document with that state vector lacks, with all that is deleted. */
  diff(source: Source, parts: Parts, stateVector: Uint8Array): Promise<Uint8Array>
  /** The shortest update that has the same meaning. Other work goes first. */
  compact(source: Source, parts: Parts): Promise<Uint8Array>
  index(source: Source, parts: Parts): Promise<DocumentIndex>
}

/** Up to this size in total, the event loop can wait for it. */
const defaultInlineBytes = 128 * 1024

/**
 * For Yjs to build a document takes about 0.2 ms for each KiB. One that was made to be slow, by items of two clients for
 * the same place, takes time in the square of its size: 20 ms for 4 KiB, 18 s for 120.
 */
const inlineShareToBuild = 1 / 32

export function createCrdt(
  threads: Pick<DocumentThreads, 'run'>,
  { inlineBytes = defaultInlineBytes }: { inlineBytes?: number } = {},
): Crdt {
  const buildInlineBytes = inlineBytes * inlineShareToBuild
  const inlineFor = (parts: Parts) => (mustJoin(parts) ? buildInlineBytes : inlineBytes)
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
