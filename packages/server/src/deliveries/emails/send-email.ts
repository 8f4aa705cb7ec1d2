import type { OutgoingPost } from '../../platform/outgoing/outgoing-post.ts'
import type { Outcome } from '../outcome.ts'
import { composeMail, type MailRequest } from './compose-mail.ts'
import type { UnsubscribeTarget } from './unsubscribe-tokens.ts'
import type { MailTransport } from './transports/mail-transport.ts'
import { sendWithSendGrid } from './transports/sendgrid.ts'

interface MailSenderDeps {
  /** For API keys without a provider of their own: the operator's mail server, or the outbox. */
  transport: MailTransport
  post: OutgoingPost
  /** The sender of mails of API keys without `fromEmail`. */
  mailFrom: string
  unsubscribeUrlOf: (target: UnsubscribeTarget) => string | undefined
  sendGridUrl?: string | undefined
}

interface EmailRequest extends Omit<MailRequest, 'unsubscribeUrl'> {
  /** Who unsubscribes with the link in the mail, and from what. Without it the mail has no such link. */
  unsubscribe?: UnsubscribeTarget
}

/** Sends a mail. One attempt: the caller tries again. `stopping` ends it, for a server that stops. */
export type SendEmail = (request: EmailRequest, stopping?: AbortSignal) => Promise<Outcome>

export function createSendEmail(deps: MailSenderDeps): SendEmail {
  const { transport, post, mailFrom, unsubscribeUrlOf, sendGridUrl = 'https://api.sendgrid.com' } = deps
  return async ({ unsubscribe, ...request }, stopping) => {
    const unsubscribeUrl = unsubscribe && unsubscribeUrlOf(unsubscribe)
    const mail = composeMail(
      { ...request, ...(unsubscribeUrl !== undefined && { unsubscribeUrl }) },
      mailFrom,
    )
    if (!mail) return { kind: 'refused', error: 'The recipient has no valid email address.' }
    const { type, credential = '' } = request.settings
    if (type !== 'sendgrid') return transport.send(mail)
    if (credential === '') return { kind: 'refused', error: 'The API key has no credential for SendGrid.' }
    return sendWithSendGrid({ post, credential, baseUrl: sendGridUrl, signal: stopping }, mail)
  }
}
