import type { Source } from '../editors/document-threads.ts'
import type { CommittedLog } from './committed-log.ts'
import type { Crdt } from './crdt.ts'
import type { DocumentIndex } from './document-index.ts'

/** Makes an index from what is stored, also from what is stored meanwhile. */
export async function indexOf(
  log: CommittedLog,
  source: Source,
  crdt: Pick<Crdt, 'index'>,
): Promise<DocumentIndex> {
  const { parts, seq } = log
  const index = await crdt.index(source, parts)
  for (const bytes of log.partsAfter(seq)) {
    const verdict = index.check(bytes, { isStored: true })
    if (!verdict.ok) throw new Error(`A stored update does not fit: ${verdict.fault.message}`)
    if (verdict.value.isNews) index.take(verdict.value)
  }
  return index
}
