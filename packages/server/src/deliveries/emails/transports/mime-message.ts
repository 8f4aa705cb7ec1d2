import type { SendMailOptions } from 'nodemailer'
import type { OutgoingMail } from './mail-transport.ts'

/** The mail as nodemailer takes it. Addresses are objects, so that a name cannot add another address. */
export function mimeMessage(mail: OutgoingMail): SendMailOptions {
  const { from, replyTo, to, subject, html, text, messageId, threadId, headers } = mail
  const thread = threadId === undefined ? undefined : `<${threadId}>`
  return {
    from,
    ...(replyTo && { replyTo }),
    to: [to],
    // The addresses of the transfer. Nodemailer would read them from the headers.
    envelope: { from: from.address, to: [to.address] },
    subject,
    html,
    text,
    messageId: `<${messageId}>`,
    ...(thread !== undefined && { inReplyTo: thread, references: thread }),
    headers,
    // The default depends on the text, and base64 is hard to read in the outbox.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
