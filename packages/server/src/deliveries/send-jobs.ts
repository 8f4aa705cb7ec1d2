import type { Delivery } from '../store/deliveries/deliveries.ts'
import { laneOf } from '../store/jobs.ts'

/**
 * The job that sends a delivery. Each endpoint has its own lane, so that one that is down delays no other. The job has the id of
 * the delivery, so a delivery has at most one.
 */
export function sendJobOf(
  apiKey: string,
  { deliveryId, channel, target }: Pick<Delivery, 'deliveryId' | 'channel' | 'target'>,
  now: number,
) {
  const kind = channel === 'email' ? ('email.send' as const) : ('webhook.send' as const)
  const lane = channel === 'email' ? laneOf(kind) : laneOf(kind, target)
  return { jobId: deliveryId, apiKey, kind, payload: { deliveryId }, now, lane }
}
