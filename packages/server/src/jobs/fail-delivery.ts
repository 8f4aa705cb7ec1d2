import * as deliveries from '../store/deliveries/deliveries.ts'
import type { JobContext } from './job.ts'

/** Records that a delivery is not tried again, because the server itself failed at it again and again. */
export async function failDelivery({
  database,
  job: { apiKey, payload },
  now,
}: Pick<JobContext<'webhook.send' | 'email.send'>, 'database' | 'job' | 'now'>): Promise<void> {
  const { deliveryId } = payload
  const delivery = await deliveries.find(database.read, apiKey, deliveryId)
  if (delivery?.status !== 'pending') return
  const { attempts } = delivery
  const error = 'The server failed to send it. The log says why.'
  await database.write(
    (db) =>
      deliveries.record(db, apiKey, deliveryId, { status: 'failed', attempts, nextAt: null, error }, now),
    apiKey,
  )
}
