import { type Attempt, attempt } from '../deliveries/attempts.ts'
import { sendDigests } from '../deliveries/emails/digest-mails.ts'
import { prepareMails } from '../deliveries/emails/prepare-mails.ts'
import { longSchedule } from '../deliveries/schedules.ts'
import { failDelivery } from './fail-delivery.ts'
import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import type { JobHandler } from './job.ts'

export interface EmailDeps {
  permissionProvider: PermissionProvider
  /** One attempt to send a mail. */
  sendMail: Attempt['send']
}

/** What is given up here is an email that people wait for, so failures are tried for about an hour. */
const maxAttempts = 60

/** Finds who gets an email about an event. */
export const prepareEmails = ({ permissionProvider }: EmailDeps): JobHandler<'email.prepare'> => ({
  maxAttempts,
  run: ({ job, ...deps }) => prepareMails({ ...deps, permissionProvider }, job),
  async abandon() {},
})

/** Sends what a batch has collected. */
export const digestEmails = (): JobHandler<'email.digest'> => ({
  maxAttempts,
  run: ({ job, ...deps }) => sendDigests(deps, job),
  async abandon() {},
})

/** Makes one attempt to send an email. */
export const sendEmail = ({ sendMail }: EmailDeps): JobHandler<'email.send'> => ({
  // Only of failures of this server: a mail server that is down uses up attempts of the schedule.
  maxAttempts,
  concurrency: 4,
  run: ({ job, ...deps }) => attempt(deps, job, { scheduleOf: () => longSchedule, send: sendMail }),
  abandon: failDelivery,
})
