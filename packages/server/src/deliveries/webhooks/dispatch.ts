import type { EventName } from '@plenum/protocol'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import type { Message } from '../../store/deliveries/deliveries.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import { findSwitches } from '../../store/webhooks/settings.ts'
import { addDeliveriesTo, type Receiver } from '../add-deliveries.ts'
import { storedWebhook, type WebhookEvent } from '../../events/webhook-event.ts'

interface DispatchDeps {
  database: Database
  clock: Pick<Clock, 'now'>
  wake: (lane: string) => void
}

/**
 * Finds the receivers of an event, and stores the event and a delivery for each, in the transaction that ends the job. Returns
 * false if there is no receiver.
 */
export async function dispatch(
  { database, clock, wake }: DispatchDeps,
  job: Job<'webhook.dispatch'>,
): Promise<boolean> {
  const { apiKey } = job
  const event = job.payload.event as WebhookEvent
  const receivers = await findReceivers(database.read, apiKey, event)
  if (receivers.length === 0) return false
  const message = { messageId: event.webhookId, event: event.name, data: storedWebhook(event) }
  const now = clock.now()
  const lanes = await database.write(async (db) => {
    await jobs.finishOrFail(db, job)
    return addWebhook(db, apiKey, message, receivers, now)
  }, apiKey)
  lanes.forEach(wake)
  return true
}

/** Adds the message, and a delivery to each receiver. Returns the lanes that have new jobs. */
export async function addWebhook(
  db: Db,
  apiKey: string,
  message: Message,
  receivers: readonly Receiver[],
  now: number,
): Promise<string[]> {
  await deliveries.addMessage(db, apiKey, message, now)
  return addDeliveriesTo(db, apiKey, message, receivers, now)
}

async function findReceivers(
  db: Db,
  apiKey: string,
  { name, organizationId }: WebhookEvent,
): Promise<Receiver[]> {
  const event = name as EventName
  const { basic, isAdvancedOn } = await findSwitches(db, apiKey)
  const called = isAdvancedOn ? await endpoints.listFor(db, apiKey, event, organizationId) : []
  const isBasicOn = basic?.events.has(event) === true
  return [
    ...called.map(({ endpointId }) => ({ channel: 'webhook' as const, target: endpointId })),
    ...(isBasicOn && basic.rawUrl !== '' ? [basicReceiver('rawNotificationUrl')] : []),
    ...(isBasicOn && basic.processedUrl !== '' ? [basicReceiver('processedNotificationUrl')] : []),
  ]
}

const basicReceiver = (target: BasicTarget) => ({ channel: 'basicWebhook' as const, target })

/** The settings of the basic webhooks that have a URL. */
export type BasicTarget = 'rawNotificationUrl' | 'processedNotificationUrl'
