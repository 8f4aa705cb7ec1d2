import { attempt } from '../deliveries/attempts.ts'
import type { DeliverMail } from '../deliveries/emails/deliver-mail.ts'
import { sendDigests } from '../deliveries/emails/digest-mails.ts'
import { prepareMails } from '../deliveries/emails/prepare-mails.ts'
import { longSchedule } from '../deliveries/schedules.ts'
import { failDelivery } from './fail-delivery.ts'
import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import type { Log } from '../platform/log/log.ts'
import { attemptsOfOneHour, type JobHandler } from './job.ts'

export interface EmailDeps {
  permissionProvider: PermissionProvider
  log: Log
  /** Makes one attempt. */
  deliverMail: DeliverMail
}

/** Finds who gets a mail about an event. */
export const prepareEmails = ({ permissionProvider }: EmailDeps): JobHandler<'email.prepare'> => ({
  maxAttempts: attemptsOfOneHour,
  run: ({ job, ...deps }) => prepareMails({ ...deps, permissionProvider }, job),
  async abandon() {},
})

/** Adds the mails about what a batch has collected. */
export const digestEmails = (): JobHandler<'email.digest'> => ({
  maxAttempts: attemptsOfOneHour,
  run: ({ job, ...deps }) => sendDigests(deps, job),
  async abandon() {},
})

/** Makes one attempt to send a mail. */
export const sendEmail = ({ deliverMail, log }: EmailDeps): JobHandler<'email.send'> => ({
  // Only of failures of this server: a mail server that is down uses up attempts of the schedule.
  maxAttempts: attemptsOfOneHour,
  concurrency: 4,
  run: ({ job, stopping, ...deps }) =>
    attempt({ ...deps, stopping, log }, job, {
      scheduleOf: () => longSchedule,
      send: (delivery) => deliverMail(delivery, stopping),
    }),
  abandon: failDelivery,
})
