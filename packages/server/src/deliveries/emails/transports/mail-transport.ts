import type { Outcome } from '../../outcome.ts'

export interface MailAddress {
  name: string
  address: string
}

/** One mail to one recipient. No text in it has a line break, except `html` and `text`. */
export interface OutgoingMail {
  deliveryId: string
  from: MailAddress
  replyTo?: MailAddress
  to: MailAddress
  subject: string
  html: string
  text: string
  /** Without angle brackets. The same at each attempt. */
  messageId: string
  /** The id of the thread that the mail belongs to, without angle brackets. */
  threadId?: string
  headers: Record<string, string>
  /** The template of the provider, which replaces `html` and `text`. */
  template?: { id: string; data: Record<string, unknown> }
}

/** Sends mails in one way. */
export interface MailTransport {
  /** One attempt. Never rejects because of the receiver. */
  send(mail: OutgoingMail): Promise<Outcome>
  close(): Promise<void>
}

/** How much of an answer an operator reads. */
export const maxAnswerCharacters = 2048
