import type { Source } from '../../crdt/document-threads.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'

/** Builds an index of the committed rows, including rows committed meanwhile. `seq` is the newest row in the index. */
export async function buildStoredIndex(
  committed: CommittedLog,
  source: Source,
  crdt: Pick<Crdt, 'index'>,
): Promise<{ index: DocumentIndex; seq: number }> {
  const { parts } = committed
  let { seq } = committed
  const index = await crdt.index(source, parts)
  while (committed.seq > seq) {
    const newer = committed.partsAfter(seq)
    seq = committed.seq
    for (const bytes of newer) {
      const verdict = await index.checkStored(bytes)
      if (!verdict.ok) throw new Error(`A stored update does not fit: ${verdict.fault.message}`)
      if (verdict.value.hasChanges) index.add(verdict.value)
    }
  }
  return { index, seq }
}
