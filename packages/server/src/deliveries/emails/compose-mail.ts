import { hash } from 'node:crypto'
import { normalizeEmail } from '../../access/domains/emails.ts'
import type { ActivityContent, MailContent, MailRecipient, RenderedMail } from './mail-content.ts'
import { renderMail } from './render-mail.ts'
import { templateData } from './template-data.ts'
import { oneLine, shownName } from './templates/texts.ts'
import { mentions } from './templates/wording.ts'
import type { OutgoingMail } from './transports/mail-transport.ts'

/** The email settings of an API key that a mail depends on (spec 3.2). */
export interface MailSettings {
  type?: 'default' | 'sendgrid' | 'custom'
  fromEmail?: string
  fromCompany?: string
  commentTemplateId?: string
  tagTemplateId?: string
  /** Of the provider. */
  credential?: string
}

export interface MailRequest {
  /** The same at each attempt. */
  deliveryId: string
  content: MailContent
  recipient: MailRecipient
  settings: MailSettings
  /** Where the recipient changes what to receive, with one click (RFC 8058). */
  unsubscribeUrl?: string
}

/** Undefined: the recipient has no valid address. `mailFrom`: the sender if the API key has none. */
export function composeMail(request: MailRequest, mailFrom: string): OutgoingMail | undefined {
  const { deliveryId, content, recipient, settings, unsubscribeUrl } = request
  const to = normalizeEmail(recipient.email)
  if (to === null) return undefined
  const from = normalizeEmail(settings.fromEmail ?? '') ?? mailFrom
  const domain = from.slice(from.lastIndexOf('@') + 1)
  const rendered = renderMail(content, { recipient, unsubscribeUrl })
  return {
    deliveryId,
    from: { name: senderName(content, settings), address: from },
    ...replyTo(content),
    to: { name: oneLine(recipient.name ?? '', 80), address: to },
    ...rendered,
    messageId: `${deliveryId.replaceAll(/[^\w.-]/g, '')}@${domain}`,
    ...threadOf(content, domain),
    headers: {
      // Programs that answer mails, such as out-of-office replies, do not answer this one.
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    ...templateOf(request, rendered),
  }
}

/** `Ada via Acme`. A digest has several actors, so it is from the company, and so is a change of a backend. */
function senderName(content: MailContent, { fromCompany = '' }: MailSettings): string {
  if (content.kind === 'loginLink') return 'Plenum'
  const company = oneLine(fromCompany, 80)
  const [{ actor }] = content.items
  const isOfCompany = content.items.length > 1 || actor.userId === undefined
  if (isOfCompany) return company
  const name = shownName(actor.name)
  return company === '' ? name : `${name} via ${company}`
}

/** An answer goes to the person who acted. */
function replyTo(content: MailContent): Pick<OutgoingMail, 'replyTo'> {
  if (content.kind === 'loginLink' || content.items.length > 1) return {}
  const { name, email } = content.items[0].actor
  const address = normalizeEmail(email ?? '')
  return address === null ? {} : { replyTo: { name: shownName(name), address } }
}

/** Mail programs group mails that answer the same mail. That one was never sent. */
function threadOf(content: MailContent, domain: string): Pick<OutgoingMail, 'threadId'> {
  if (content.kind === 'loginLink') return {}
  const [annotationId, ...others] = new Set(content.items.map((item) => item.annotationId))
  if (annotationId === undefined || others.length > 0) return {}
  return { threadId: `thread.${hash('sha256', annotationId).slice(0, 32)}@${domain}` }
}

/** SendGrid's templates show one event. A digest is sent as it is rendered here. */
function templateOf(
  { content, recipient, settings, unsubscribeUrl }: MailRequest,
  rendered: RenderedMail,
): Pick<OutgoingMail, 'template'> {
  if (settings.type !== 'sendgrid' || content.kind === 'loginLink' || content.items.length > 1) return {}
  const id = templateIdFor(content, recipient, settings)
  return id === undefined
    ? {}
    : { template: { id, data: templateData(content, recipient, rendered, { unsubscribeUrl }) } }
}

const templateIdFor = (
  { items: [item] }: ActivityContent,
  recipient: MailRecipient,
  { commentTemplateId, tagTemplateId }: MailSettings,
): string | undefined => (mentions(item, recipient) && tagTemplateId) || commentTemplateId || undefined
