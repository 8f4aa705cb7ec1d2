import { ApiError, type Operations } from '@plenum/protocol'
import type { Handlers } from '../handler.ts'
import * as documents from '../store/documents.ts'
import * as liveStates from '../store/live-states.ts'

/** Merging adds up: without a bound a value would grow past what a client can be sent. */
const mostBytes = 1024 * 1024

export const liveStateHandlers: Handlers<Operations['liveState']> = {
  async broadcast({ input, caller: { apiKey }, db, now, emit }) {
    const { organizationId, documentId, liveStateDataId, data, merge } = input
    await documents.ensure(db, apiKey, organizationId, documentId, now)
    const stored = merge
      ? await liveStates.find(db, apiKey, organizationId, documentId, liveStateDataId)
      : undefined
    // Spreading defines own properties, so no key of a caller reaches a prototype.
    const json = JSON.stringify({ ...stored?.data, ...data })
    if (Buffer.byteLength(json) > mostBytes) {
      throw new ApiError('INVALID_ARGUMENT', 'Live state must not be larger than 1 MiB.')
    }
    const state = { liveStateDataId, json, userId: 'rest-api' }
    const seq = await liveStates.put(db, apiKey, organizationId, documentId, state, now)
    if (seq === undefined) throw new Error('The document went while its live state was set.')
    const states = [liveStates.valueOf(state, now)]
    emit({ kind: 'liveState', organizationId, documentId, states, seq })
    return { success: true }
  },
}
