import { newId } from '../../access/ids.ts'
import type { Delivery } from '../../store/deliveries/deliveries.ts'
import type { Db } from '../../store/engine/db.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import { addWebhook } from './dispatch.ts'

const event = 'message.attempt.exhausted' as const

/** What a webhook says about a message that another endpoint did not accept (spec 24.21.8). */
export interface ExhaustedData {
  event: typeof event
  webhookId: string
  deliveryId: string
  endpointId: string
  /** The message that was not delivered, and the event that it is about. */
  failed: { webhookId: string; event: string }
}

export const isExhausted = (data: unknown): data is ExhaustedData =>
  (data as Partial<ExhaustedData>).event === event

/**
 * Adds a webhook for the other endpoints that receive the event, unless the delivery that failed was about the same event.
 * Returns the lanes that have new jobs.
 */
export async function announceExhausted(
  db: Db,
  { apiKey, deliveryId, target, messageId, event: failedEvent, data: failedData }: Delivery,
  now: number,
): Promise<string[]> {
  if (isExhausted(failedData)) return []
  const called = await endpoints.listFor(db, apiKey, event, undefined)
  const receivers = called
    .filter(({ endpointId }) => endpointId !== target)
    .map(({ endpointId }) => ({ channel: 'webhook' as const, target: endpointId }))
  if (receivers.length === 0) return []
  const webhookId = newId('msg')
  const failed = { webhookId: messageId, event: failedEvent }
  const data: ExhaustedData = { event, webhookId, deliveryId, endpointId: target, failed }
  return addWebhook(db, apiKey, { messageId: webhookId, event, data }, receivers, now)
}

export const exhaustedPayload = ({ webhookId, deliveryId, endpointId, failed }: ExhaustedData) => ({
  event,
  actionType: 'exhausted',
  source: 'message',
  webhookId,
  data: { deliveryId, endpointId, ...failed },
})
