import { readSettings } from '../../access/credentials/service-settings.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import type { Delivery } from '../../store/deliveries/deliveries.ts'
import type { StoredEmailConfig } from '../../store/deliveries/email-settings.ts'
import type { Database } from '../../store/engine/db.ts'
import * as configs from '../../store/notifications/configs.ts'
import * as users from '../../store/users/users.ts'
import { type Cancelled, cancelled, type Outcome } from '../outcome.ts'
import type { MailSettings } from './compose-mail.ts'
import type { SendEmail } from './send-email.ts'
import type { StoredMail } from './stored-mail.ts'

interface DeliverMailDeps {
  database: Pick<Database, 'read'>
  secrets: Secrets
  sendEmail: SendEmail
}

/** Creates the function that makes one attempt to send a mail, with the settings and the preference that apply then. */
export const createDeliverMail =
  ({ database: { read }, secrets, sendEmail }: DeliverMailDeps) =>
  async (
    { apiKey, deliveryId, target, userId, data }: Delivery,
    stopping: AbortSignal,
  ): Promise<Outcome | Cancelled> => {
    const { content, organizationId, documentId } = data as StoredMail
    const stored = await readSettings<StoredEmailConfig>(read, secrets, apiKey, 'email')
    if (!stored?.enabled) return cancelled('The email service is off.')
    const settings: MailSettings = { ...stored.config, credential: stored.credential }
    const profile = userId === null ? undefined : (await users.findMany(read, apiKey, [userId])).get(userId)
    if (userId === null || !profile) return cancelled('The user was deleted.')
    const choices = await configs.find(read, apiKey, organizationId, [documentId], [userId])
    if (choices.effective(userId, documentId).email === 'NONE') {
      return cancelled('The user does not want emails any more.')
    }
    const recipient = { userId, name: profile.name, email: target }
    const unsubscribe = { apiKey, organizationId, documentId, userId }
    return sendEmail({ deliveryId, content, recipient, settings, unsubscribe }, stopping)
  }

export type DeliverMail = ReturnType<typeof createDeliverMail>
