import { ApiError, type Delivery, maxBatchItems, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import { sendJobOf } from '../deliveries/send-jobs.ts'
import * as deliveries from '../store/deliveries/deliveries.ts'
import * as lists from '../store/deliveries/lists.ts'
import type { DeliveryTable } from '../store/schema/delivery-tables.ts'
import * as jobs from '../store/jobs.ts'
import { unique } from './shared/batches.ts'
import { page, type Window } from './shared/paging.ts'

/** Deliveries that one query reads. Each may have an answer of 2 KB. */
const rowsPerQuery = 128

export const deliveryHandlers: Handlers<Operations['deliveries']> = {
  async get(call) {
    const { input, caller, db } = call
    const { status, channel, target, event } = input
    const filter = { status, channel, target, event }
    const list = {
      read: (window: Window) => lists.list(db, caller.apiKey, filter, { ...window, order: 'desc' }),
      cursor: (row: DeliveryTable) => [row.created_at, row.delivery_id],
      rowsPerQuery,
    }
    return page(call, input, list, (rows) => rows.map(present))
  },

  async retry({ input, caller: { apiKey }, db, now, services, afterCommit }) {
    const { deliveryIds, failedSince, target } = input
    if ((deliveryIds === undefined) === (failedSince === undefined)) {
      throw new ApiError('INVALID_ARGUMENT', 'Either deliveryIds or failedSince must be provided.')
    }
    const failed = { status: 'failed', target, since: failedSince } as const
    const window = { limit: maxBatchItems + 1, after: undefined, order: 'asc' } as const
    const found = deliveryIds
      ? unique(deliveryIds)
      : (await lists.findPositions(db, apiKey, failed, window)).map(({ key }) => key)
    const restarted = await deliveries.restart(db, apiKey, found.slice(0, maxBatchItems), now)
    const added = restarted.map((delivery) => sendJobOf(apiKey, delivery, now))
    // A delivery that is pending has a job already.
    await jobs.reschedule(
      db,
      apiKey,
      added.map(({ jobId }) => jobId),
      now,
    )
    await jobs.addMany(db, added)
    afterCommit(() => {
      for (const lane of new Set(added.map((job) => job.lane))) services.wakeJobs(apiKey, lane)
    })
    return { restarted: restarted.length, hasMore: found.length > maxBatchItems }
  },
}

const present = (row: DeliveryTable): Delivery => ({
  deliveryId: row.delivery_id,
  messageId: row.message_id,
  channel: row.channel,
  target: row.target,
  ...(row.user_id !== null && { userId: row.user_id }),
  event: row.event,
  status: row.status,
  attempts: row.attempts,
  createdAt: row.created_at,
  ...(row.next_at !== null && { nextAttemptAt: row.next_at }),
  ...(row.last_at !== null && { lastAttemptAt: row.last_at }),
  ...(row.last_code !== null && { lastStatusCode: row.last_code }),
  ...(row.last_answer !== null && { lastAnswer: row.last_answer }),
  ...(row.last_error !== null && { lastError: row.last_error }),
})
