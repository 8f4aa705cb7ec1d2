import { ApiError, type Operations } from '@plenum/protocol'
import { backendUserIds } from '../access/backend-users.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { groupBy } from '../platform/group-by.ts'
import { isLoopHeld } from '../platform/turns/loop-time.ts'
import { beingDeleted } from '../store/deletions.ts'
import type { Db } from '../store/engine/db.ts'
import type * as documents from '../store/documents/documents.ts'
import { ensureDocument } from './shared/levels.ts'
import * as liveStates from '../store/documents/live-states.ts'
import { tenantDocumentKey } from '../store/refs.ts'

type BroadcastCall = Call<Operations['liveState']['broadcast']>

export const liveStateHandlers: Handlers<Operations['liveState']> = {
  broadcast: {
    async writeAll(calls) {
      const [{ db }] = calls as [BroadcastCall]
      const broadcasts = calls.map((call) => ({ call, change: changeOf(call) }))
      const results = await setAll(db, broadcasts)
      const missing = broadcasts.filter((one) => results.get(one) === 'no document')
      for (const { call } of missing) {
        const { organizationId, documentId } = call.input
        await ensureDocument(call, { organizationId, documentId })
      }
      if (missing.length > 0) for (const [one, result] of await setAll(db, missing)) results.set(one, result)
      return broadcasts.map((one) => {
        const result = results.get(one)
        // Thrown, not returned: `ensure` may have created the organization, and a refused call must leave nothing behind.
        if (result === 'no document') throw beingDeleted()
        if (result === undefined || result instanceof ApiError) return result
        const { organizationId, documentId } = one.call.input
        one.call.signal({ kind: 'liveState', organizationId, documentId, seq: result.seq })
        return { success: true }
      })
    },
  },
}

interface Broadcast {
  call: BroadcastCall
  change: liveStates.Change
}

const changeOf = ({ input: { liveStateDataId, data, merge = false } }: BroadcastCall): liveStates.Change => ({
  liveStateDataId,
  data: JSON.stringify(data),
  merge,
  userId: backendUserIds.rest,
})

type Result = documents.Position | ApiError | 'no document'

/** Sets the live states in documents that exist. Returns no result for broadcasts that the next transaction must set. */
async function setAll(db: Db, broadcasts: readonly Broadcast[]): Promise<Map<Broadcast, Result>> {
  const byDocument = groupBy(broadcasts, ({ call }) => tenantDocumentKey(call.caller.apiKey, call.input))
  const groups = [...byDocument.values()]
  const writes = groups.map((group) => ({
    apiKey: group[0].call.caller.apiKey,
    document: group[0].call.input,
    changes: group.map(({ change }) => change),
  }))
  const results = new Map<Broadcast, Result>()
  const found = await liveStates.setAll(db, writes, groups[0]?.[0].call.now ?? 0, { isLate: isLoopHeld })
  for (const [index, result] of found.entries()) {
    const group = groups[index] ?? []
    for (const one of result ? group.slice(0, result.count) : group) {
      const refusal = result?.refused.get(one.change)
      if (refusal) results.set(one, new ApiError(refusal.status, refusal.message))
      else results.set(one, result?.position ?? 'no document')
    }
  }
  return results
}
