import type { MailRequest } from '../../../src/deliveries/emails/compose-mail.ts'
import type { ActivityContent, MailItem } from '../../../src/deliveries/emails/mail-content.ts'

export const recipient = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }

export const mailItem: MailItem = {
  event: 'comment.add',
  actor: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  commentText: 'Please check the table.',
  earlierComment: { author: 'Alan Turing', text: 'Is it ready?' },
  commentsCount: 2,
  annotationId: 'a1',
  pageTitle: 'Launch plan',
  pageUrl: 'https://app.example.com/launch?thread=a1&x="1"',
  timestamp: Date.UTC(2026, 10, 18, 9, 41),
}

/** A mail about these changes of `mailItem`; several are a digest. */
export const activity = (...[first = {}, ...others]: Partial<MailItem>[]): ActivityContent => ({
  kind: others.length === 0 ? 'event' : 'digest',
  items: [{ ...mailItem, ...first }, ...others.map((other) => ({ ...mailItem, ...other }))],
  company: 'Acme',
  organizationName: 'Acme Marketing',
  documentName: 'Launch plan',
})

export const mailRequest = (changes: Partial<MailRequest> = {}): MailRequest => ({
  deliveryId: 'del_1234567890',
  content: activity(),
  recipient,
  settings: { fromEmail: 'notify@acme.example', fromCompany: 'Acme' },
  unsubscribeUrl: 'https://plenum.example.com/unsubscribe/token',
  ...changes,
})
