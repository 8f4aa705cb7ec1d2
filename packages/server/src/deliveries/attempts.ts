import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import { yieldIfLate } from '../platform/turns/loop-time.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as deliveries from '../store/deliveries/deliveries.ts'
import type { Delivery } from '../store/deliveries/deliveries.ts'
import * as jobs from '../store/jobs.ts'
import type { Job } from '../store/jobs.ts'
import type { Cancelled, Outcome } from './outcome.ts'
import { type Schedule, waitAfter } from './schedules.ts'

interface AttemptDeps {
  database: Database
  clock: Clock
  log: Log
  /** Aborted when the server stops. The attempt does not count then. */
  stopping: AbortSignal
  /** Makes the runner look for jobs in the lane after this time. */
  wake: (lane: string, waitMs?: number) => void
}

export interface Attempt {
  scheduleOf: (delivery: Delivery) => Schedule
  send: (delivery: Delivery) => Promise<Outcome | Cancelled>
  /** Runs in the transaction that ends a delivery without success. */
  onFailed?: (db: Db, delivery: Delivery, now: number) => Promise<void>
  /** Runs once that transaction is durable. */
  onRecorded?: () => void
}

/**
 * Makes one attempt to deliver. One transaction records what it led to and ends or postpones the job, so a server that dies
 * before leaves the delivery as it was, and the next attempt repeats the message with the same id.
 */
export async function attempt(
  { database, clock, log, stopping, wake }: AttemptDeps,
  job: Job<'webhook.send' | 'email.send'>,
  { scheduleOf, send, onFailed, onRecorded }: Attempt,
): Promise<'settled' | undefined> {
  const { apiKey, lane, payload } = job
  // A message may have 256 KB, and many lanes send at the same time.
  await yieldIfLate()
  const delivery = await deliveries.find(database.read, apiKey, payload.deliveryId)
  if (delivery?.status !== 'pending') return undefined
  const outcome = await send(delivery)
  if (stopping.aborted && outcome.kind === 'failed') throw stopping.reason
  const attempts = delivery.attempts + (outcome.kind === 'cancelled' ? 0 : 1)
  const waitMs = outcome.kind === 'failed' ? waitAfter(scheduleOf(delivery), attempts) : undefined
  const now = clock.now()
  const nextAt = waitMs === undefined ? null : now + waitMs
  const status = statusAfter(outcome, nextAt !== null)
  await database.write(async (db) => {
    // Fails if the delivery was restarted meanwhile.
    if (nextAt === null) await jobs.finishOrFail(db, job)
    else await jobs.continueAt(db, job, nextAt)
    await deliveries.record(db, apiKey, delivery.deliveryId, { ...outcome, status, attempts, nextAt }, now)
    if (status === 'failed') await onFailed?.(db, delivery, now)
  }, apiKey)
  onRecorded?.()
  if (status === 'failed') logFailure(log, delivery, outcome)
  if (waitMs !== undefined) wake(lane, waitMs)
  return 'settled'
}

function statusAfter({ kind }: Outcome | Cancelled, isTriedAgain: boolean): deliveries.DeliveryStatus {
  if (kind === 'delivered' || kind === 'cancelled') return kind
  return isTriedAgain ? 'pending' : 'failed'
}

/** The addresses of users and the answers of receivers, which may repeat them, stay out of the log. */
function logFailure(
  log: Log,
  { apiKey, deliveryId, channel, event }: Delivery,
  outcome: Outcome | Cancelled,
): void {
  const code = 'code' in outcome ? outcome.code : undefined
  log.warn({ apiKey, deliveryId, channel, event, code }, 'a delivery failed and is not tried again')
}
