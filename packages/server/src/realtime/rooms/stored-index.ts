import type { Source } from '../../crdt/document-threads.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'

/** Builds an index of the stored rows, including rows stored meanwhile. `seq` is the newest row in it. */
export async function buildStoredIndex(
  log: CommittedLog,
  source: Source,
  crdt: Pick<Crdt, 'index'>,
): Promise<{ index: DocumentIndex; seq: number }> {
  const { parts } = log
  let { seq } = log
  const index = await crdt.index(source, parts)
  while (log.seq > seq) {
    const newer = log.partsAfter(seq)
    seq = log.seq
    for (const bytes of newer) {
      const verdict = await index.checkStored(bytes)
      if (!verdict.ok) throw new Error(`A stored update does not fit: ${verdict.fault.message}`)
      if (verdict.value.hasChanges) index.add(verdict.value)
    }
  }
  return { index, seq }
}
