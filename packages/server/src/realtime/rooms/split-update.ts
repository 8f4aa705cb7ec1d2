import type { Fault } from '../../crdt/updates/fault.ts'
import type { QueuedUpdate } from './queued-update.ts'
import { readOnly } from './refusals.ts'

/**
 * Splits an update into two parts: `own`, and `deletes` of items that the server lacks. The sender learns the outcome once:
 * when `own` is refused, or when both parts are settled. If the items do not arrive in time, the update is acknowledged
 * without these deletes: otherwise one client would stop sending because another one is offline. It is refused if the sender may
 * not write any more, because the deletes will not be stored later either.
 */
export function splitUpdate(
  queued: QueuedUpdate,
  own: Uint8Array,
  deletes: Uint8Array,
  onDeletesRefused: () => void,
): { own: QueuedUpdate; deletes: QueuedUpdate } {
  const { outcome, from } = queued
  let savedParts = 0
  let isRefused = false
  let lastSeq = 0
  let anyChanges = false
  const saved = (seq: number, hasChanges: boolean) => {
    lastSeq = Math.max(lastSeq, seq)
    anyChanges ||= hasChanges
    if (++savedParts === 2) outcome.saved(lastSeq, anyChanges)
  }
  const refused = (fault: Fault) => {
    if (!isRefused) outcome.refused(fault)
    isRefused = true
  }
  const deletesRefused = () => {
    if (from.mayStore === undefined) return void from.whenDecided().then(deletesRefused)
    if (!from.mayStore) return refused(readOnly)
    onDeletesRefused()
    saved(0, false)
  }
  return {
    own: { ...queued, update: own, outcome: { saved, refused } },
    deletes: { ...queued, sent: deletes, update: deletes, outcome: { saved, refused: deletesRefused } },
  }
}
