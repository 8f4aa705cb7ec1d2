import { readSettings } from '../../access/credentials/service-settings.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import { ProviderSilent } from '../../events/inbox/event-recipients.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { Delivery } from '../../store/deliveries/deliveries.ts'
import type { StoredEmailConfig } from '../../store/deliveries/email-settings.ts'
import * as users from '../../store/users/users.ts'
import { type Cancelled, cancelled, type Outcome } from '../outcome.ts'
import type { MailSettings } from './compose-mail.ts'
import { decideMail, type DecideMailDeps } from './decide-mail.ts'
import type { SendEmail } from './send-email.ts'
import type { StoredMail } from './stored-mail.ts'

interface DeliverMailDeps extends DecideMailDeps {
  secrets: Secrets
  sendEmail: SendEmail
}

/**
 * Creates the function that makes one attempt to send a mail. Everything is decided at the attempt: the settings, whether the
 * user may get the mail, the address and the text (spec 3.3.4).
 */
export const createDeliverMail =
  ({ secrets, sendEmail, ...deps }: DeliverMailDeps) =>
  async (
    { apiKey, deliveryId, userId, data }: Delivery,
    stopping: AbortSignal,
  ): Promise<Outcome | Cancelled> => {
    const { read } = deps.database
    const mail = data as StoredMail
    const key = (await apiKeys.find(read, apiKey))?.key
    const stored = await readSettings<StoredEmailConfig>(read, secrets, apiKey, 'email')
    if (!key || !stored?.enabled) return cancelled('The email service is off.')
    const settings: MailSettings = { ...stored.config, credential: stored.credential }
    const profile = userId === null ? undefined : (await users.findMany(read, apiKey, [userId])).get(userId)
    if (userId === null || !profile) return cancelled('The user was deleted.')
    const { name, email } = profile
    if (!email) return cancelled('The user has no email address any more.')
    const decided = await decideMail(deps, key, mail, userId).catch((error: unknown) => {
      if (error instanceof ProviderSilent) return { failure: error.message }
      throw error
    })
    if ('failure' in decided) return { kind: 'failed', error: decided.failure }
    if ('refusal' in decided) return cancelled(decided.refusal)
    const { organizationId, documentId } = mail
    const recipient = { userId, name, email }
    const unsubscribe = { apiKey, organizationId, documentId, userId }
    const request = { deliveryId, content: decided.content, recipient, settings, unsubscribe }
    return { ...(await sendEmail(request, stopping)), target: email }
  }

export type DeliverMail = ReturnType<typeof createDeliverMail>
