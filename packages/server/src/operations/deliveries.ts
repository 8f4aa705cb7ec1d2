import {
  ApiError,
  type Delivery,
  maxRetriedDeliveries as maxRetried,
  type Operations,
} from '@plenum/protocol'
import type { Call, Handlers } from '../calls/call.ts'
import { sendJobOf } from '../deliveries/send-jobs.ts'
import * as deliveries from '../store/deliveries/deliveries.ts'
import * as lists from '../store/deliveries/lists.ts'
import { cursorOf } from '../store/engine/scan.ts'
import type { DeliveryTable } from '../store/schema/delivery-tables.ts'
import * as jobs from '../store/jobs.ts'
import { unique } from './shared/batches.ts'
import { page } from './shared/paging.ts'
import { scannedList, scanningOf } from './shared/scanned-list.ts'

type Retry = Operations['deliveries']['retry']

/** Deliveries that one query reads. Each may have an answer of 2 KB. */
const rowsPerQuery = 128

export const deliveryHandlers: Handlers<Operations['deliveries']> = {
  async get(call) {
    const { input, caller, db, services, abandoned } = call
    const { status, channel, target, event } = input
    const filter = { status, channel, target, event }
    const reading = services.longReads.open(caller, abandoned)
    const scanning = scanningOf(reading)
    const { apiKey } = caller
    const list = {
      read: scannedList({
        scanning,
        find: (window) => lists.findPositions(db, apiKey, filter, { ...window, order: 'desc' }, scanning),
        cursorOf,
        load: (positions) => {
          const ids = positions.map(({ key }) => key)
          return reading.query(() => lists.findMany(db, apiKey, ids))
        },
      }),
      cursor: (row: DeliveryTable) => [row.created_at, row.delivery_id],
      rowsPerQuery,
      reading,
    }
    return page(call, input, list, (rows) => rows.map(present))
  },

  retry: {
    // Calls at the same time would restart the same deliveries.
    subject: ({ caller: { apiKey } }) => `deliveries/${apiKey}`,

    async prepare({ input, caller, db, services }: Call<Retry>): Promise<string[]> {
      const { deliveryIds, failedSince, target } = input
      if ((deliveryIds === undefined) === (failedSince === undefined)) {
        throw new ApiError('INVALID_ARGUMENT', 'Either deliveryIds or failedSince must be provided.')
      }
      if (deliveryIds) return unique(deliveryIds)
      const failed = { status: 'failed', target, since: failedSince } as const
      const window = { limit: maxRetried + 1, after: undefined, order: 'asc' } as const
      const scanning = scanningOf(services.longReads.open(caller), { hasPages: false })
      const { items } = await lists.findPositions(db, caller.apiKey, failed, window, scanning)
      return items.slice(0, maxRetried + 1).map(({ key }) => key)
    },

    async write({ caller: { apiKey }, db, now, services, afterCommit }: Call<Retry>, found: string[]) {
      const restarted = await deliveries.restart(db, apiKey, found.slice(0, maxRetried), now)
      const added = restarted.map((delivery) => sendJobOf(apiKey, delivery, now))
      const jobIds = added.map(({ jobId }) => jobId)
      // A delivery that is pending has a job already.
      await jobs.reschedule(db, apiKey, jobIds, now)
      await jobs.addMany(db, added)
      afterCommit(() => {
        for (const lane of new Set(added.map((job) => job.lane))) services.wakeJobs(apiKey, lane)
      })
      return { restarted: restarted.length, hasMore: found.length > maxRetried }
    },
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
