import { attempt } from '../deliveries/attempts.ts'
import { longSchedule, shortSchedule } from '../deliveries/schedules.ts'
import type { DeliverWebhook } from '../deliveries/webhooks/deliver-webhook.ts'
import { dispatch } from '../deliveries/webhooks/dispatch.ts'
import { announceExhausted } from '../deliveries/webhooks/exhausted.ts'
import type { Log } from '../platform/log/log.ts'
import { failDelivery } from './fail-delivery.ts'
import { attemptsOfOneHour, type JobHandler } from './job.ts'

export interface WebhookDeps {
  /** Makes one attempt. */
  deliverWebhook: DeliverWebhook
  log: Log
}

/** Finds who gets a webhook about an event. */
export const dispatchWebhooks = (): JobHandler<'webhook.dispatch'> => ({
  maxAttempts: attemptsOfOneHour,
  run: async ({ job, ...deps }) => ((await dispatch(deps, job)) ? 'settled' : undefined),
  async abandon() {},
})

/** Makes one attempt to send a webhook. */
export const sendWebhook = ({ deliverWebhook, log }: WebhookDeps): JobHandler<'webhook.send'> => ({
  // Only of failures of this server: a receiver that is down uses up attempts of the schedule.
  maxAttempts: attemptsOfOneHour,
  concurrency: 4,
  run: ({ job, stopping, wake, ...deps }) => {
    const lanes: string[] = []
    return attempt({ ...deps, log, stopping, wake }, job, {
      scheduleOf: ({ channel }) => (channel === 'webhook' ? longSchedule : shortSchedule),
      send: (delivery) => deliverWebhook(delivery, stopping),
      async onFailed(db, delivery, now) {
        if (delivery.channel === 'webhook') lanes.push(...(await announceExhausted(db, delivery, now)))
      },
      onRecorded: () => lanes.forEach((lane) => wake(lane)),
    })
  },
  abandon: failDelivery,
})
