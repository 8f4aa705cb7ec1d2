import { ApiError, type Operations } from '@plenum/protocol'
import { backendUserIds } from '../access/backend-users.ts'
import { type Handlers, Stale } from '../handler.ts'
import * as documents from '../store/documents.ts'
import { maxInlineJsonBytes } from '../store/json-members.ts'
import * as liveStates from '../store/live-states.ts'

type PreparedState = Pick<liveStates.Change, 'data' | 'merged'>

export const liveStateHandlers: Handlers<Operations['liveState']> = {
  broadcast: {
    subject: ({ input: { organizationId, documentId, liveStateDataId } }) =>
      JSON.stringify([organizationId, documentId, liveStateDataId]),

    async prepare({ input, caller: { apiKey }, db, mergeJson }): Promise<PreparedState> {
      const data = JSON.stringify(input.data)
      const below = input.merge && (await liveStates.findJson(db, apiKey, input, input.liveStateDataId))
      if (!below || Buffer.byteLength(below) + data.length <= maxInlineJsonBytes) return { data }
      return {
        data,
        merged: { below, json: await mergeJson(apiKey, below, data, liveStates.maxValueBytes) },
      }
    },

    async write({ input, caller: { apiKey }, db, now, emit }, prepared: PreparedState) {
      const { organizationId, documentId, liveStateDataId, merge = false } = input
      await documents.ensure(db, apiKey, organizationId, documentId, now)
      const change = { liveStateDataId, merge, userId: backendUserIds.rest, ...prepared }
      const set = await liveStates.set(db, apiKey, input, [change], now)
      if (!set) throw new Error('The document went while its live state was set.')
      if (set.mergeWith !== undefined) throw new Stale()
      const refusal = set.refused.get(change)
      if (refusal) throw new ApiError(refusal.status, refusal.message)
      if (!set.position) throw new Error('Nothing was set.')
      emit({ kind: 'liveState', organizationId, documentId, seq: set.position.seq })
      return { success: true }
    },
  },
}
