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
      const verdict = await index.addStored(bytes)
      if (!verdict.ok) throw new Error(`A stored update does not fit: ${verdict.fault.message}`)
    }
  }
  return { index, seq }
}

/** Adds the rows after `seq`. Rows of REST and of other servers may have been broadcast since the index was complete. */
export function addRowsAfter(seq: number, committed: CommittedLog, index: DocumentIndex): void {
  for (const bytes of committed.partsAfter(seq)) {
    const verdict = index.check(bytes, { isStored: true })
    if (verdict.ok && verdict.value.hasChanges) index.add(verdict.value)
  }
}
