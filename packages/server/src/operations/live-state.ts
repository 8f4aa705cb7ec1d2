import { ApiError, type Operations } from '@plenum/protocol'
import { backendUserIds } from '../access/backend-users.ts'
import type { Handlers } from '../calls/call.ts'
import { beingDeleted } from '../store/deletions.ts'
import * as documents from '../store/documents/documents.ts'
import * as liveStates from '../store/documents/live-states.ts'

export const liveStateHandlers: Handlers<Operations['liveState']> = {
  async broadcast({ input, caller: { apiKey }, db, now, signal }) {
    const { organizationId, documentId, liveStateDataId, data, merge = false } = input
    await documents.ensure(db, apiKey, organizationId, documentId, now)
    const change = { liveStateDataId, data: JSON.stringify(data), merge, userId: backendUserIds.rest }
    const set = await liveStates.set(db, apiKey, input, [change], now)
    if (!set) throw beingDeleted()
    const refusal = set.refused.get(change)
    if (refusal) throw new ApiError(refusal.status, refusal.message)
    if (!set.position) throw new Error('The live state was neither set nor refused.')
    signal({ kind: 'liveState', organizationId, documentId, seq: set.position.seq })
    return { success: true }
  },
}
