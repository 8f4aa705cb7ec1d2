import { newId } from '../../access/ids.ts'
import type { Delivery } from '../../store/deliveries/deliveries.ts'
import type { Db } from '../../store/engine/db.ts'
import * as endpoints from '../../store/webhooks/endpoints.ts'
import { addWebhook } from './dispatch.ts'

const event = 'message.attempt.exhausted' as const

/** What endpoints are told about a message that another endpoint did not accept (spec 24.9). */
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

/** Tells the other endpoints that want the event. A message about a failure leads to no further one. */
export async function announceExhausted(
  db: Db,
  { apiKey, deliveryId, target, messageId, event: failedEvent, data }: Delivery,
  now: number,
): Promise<string[]> {
  if (isExhausted(data)) return []
  const called = await endpoints.listFor(db, apiKey, event, undefined)
  const receivers = called
    .filter(({ endpointId }) => endpointId !== target)
    .map(({ endpointId }) => ({ channel: 'webhook' as const, target: endpointId }))
  if (receivers.length === 0) return []
  const webhookId = newId('msg')
  const failed = { webhookId: messageId, event: failedEvent }
  const told: ExhaustedData = { event, webhookId, deliveryId, endpointId: target, failed }
  return addWebhook(db, apiKey, { messageId: webhookId, event, data: told }, receivers, now)
}

export const exhaustedPayload = ({ webhookId, deliveryId, endpointId, failed }: ExhaustedData) => ({
  event,
  actionType: 'exhausted',
  source: 'message',
  webhookId,
  data: { deliveryId, endpointId, ...failed },
})
