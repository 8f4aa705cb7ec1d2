import { unsealLoginLink } from '../deliveries/emails/login-links.ts'
import * as jobs from '../store/jobs.ts'
import * as loginLinks from '../store/login-links.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { SendEmail } from '../deliveries/emails/send-email.ts'
import type { Log } from '../platform/log/log.ts'
import type { JobHandler } from './job.ts'

export interface LoginLinkDeps {
  sendEmail: SendEmail
  secrets: Secrets
  log: Log
}

/** Short, because the owner waits for the link. */
const retryMs = 10_000

/**
 * Sends a login link. If the mail server is down, it tries again until the link has expired. It is no delivery: a delivery is
 * stored in clear for 14 days, and the backend of an API key can list and repeat it. A link is a secret of 15 minutes.
 */
export const sendLoginLink = ({ sendEmail, secrets, log }: LoginLinkDeps): JobHandler<'email.loginLink'> => ({
  async run({ database, job, clock }) {
    const { jobId, apiKey } = job
    const { email, sealedUrl, expiresAt } = job.payload
    if (clock.now() >= expiresAt) return undefined
    const url = unsealLoginLink(secrets, email, sealedUrl)
    const outcome = await sendEmail({
      deliveryId: jobId,
      content: { kind: 'loginLink', url, minutes: loginLinks.validityMs / 60_000 },
      recipient: { email },
      settings: {},
    })
    if (outcome.kind === 'delivered') return undefined
    log.warn({ job: jobId, code: outcome.code, reason: outcome.error }, 'a login link was not sent')
    if (outcome.kind === 'refused') return undefined
    await database.write((db) => jobs.postpone(db, job, clock.now() + retryMs), apiKey)
    return 'settled'
  },

  // A link expires before that.
  maxAttempts: Infinity,
  async abandon() {},
})
