import { hash } from 'node:crypto'
import * as deliveries from '../store/deliveries/deliveries.ts'
import type { Message, NewDelivery } from '../store/deliveries/deliveries.ts'
import type { Db } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import { sendJobOf } from './send-jobs.ts'

export type Receiver = Pick<NewDelivery, 'channel' | 'target' | 'userId'>

/**
 * Adds a delivery of a stored message to each receiver, and the job that sends it. The ids come from the message and the
 * receiver, so work that runs again adds none twice. Returns the lanes that have new jobs.
 */
export async function addDeliveriesTo(
  db: Db,
  apiKey: string,
  { messageId, event }: Pick<Message, 'messageId' | 'event'>,
  receivers: readonly Receiver[],
  now: number,
): Promise<string[]> {
  const added = receivers.map((receiver) => ({
    ...receiver,
    // The address of a user may change meanwhile.
    deliveryId: `dlv_${hash('sha256', JSON.stringify([messageId, receiver.userId ?? receiver.target])).slice(0, 32)}`,
    messageId,
    event,
  }))
  await deliveries.addMany(db, apiKey, added, now)
  const sends = added.map((delivery) => sendJobOf(apiKey, delivery, now))
  await jobs.addMany(db, sends)
  return sends.map(({ lane }) => lane)
}
