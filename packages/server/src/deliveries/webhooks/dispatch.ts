import type { EventName } from '@plenum/protocol'
import * as apiKeys from '../../store/api-keys.ts'
import * as deliveries from '../../store/deliveries/deliveries.ts'
import type { Message } from '../../store/deliveries/deliveries.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import type { Job } from '../../store/jobs.ts'
import * as jobs from '../../store/jobs.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import { findSwitches } from '../../store/webhooks/settings.ts'
import { addDeliveriesTo, type Receiver } from '../add-deliveries.ts'
import { readWebhookData, type WebhookDataDeps } from './read-webhook-data.ts'
import type { WebhookEvent } from './webhook-data.ts'

interface DispatchDeps extends WebhookDataDeps {
  database: Database
  wake: (lane: string) => void
}

/**
 * Finds the receivers of an event, and stores what the webhook says and a delivery for each, in the transaction that ends the job.
 * Returns false if there is no receiver.
 */
export async function dispatch(deps: DispatchDeps, job: Job<'webhook.dispatch'>): Promise<boolean> {
  const { database, clock, wake } = deps
  const { apiKey } = job
  const event = job.payload.event as unknown as WebhookEvent
  const key = (await apiKeys.find(database.read, apiKey))?.key
  const receivers = key ? await findReceivers(database.read, apiKey, event) : []
  if (!key || receivers.length === 0) return false
  const data = await readWebhookData(deps, key, event)
  const message = { messageId: event.webhookId, event: event.name, data }
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
