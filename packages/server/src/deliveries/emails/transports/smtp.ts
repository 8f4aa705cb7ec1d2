import { isIP } from 'node:net'
import { createTransport, type NodemailerError, type SMTPPoolOptions } from 'nodemailer'
import { cutText } from '../../../platform/cut-text.ts'
import type { Outcome } from '../../outcome.ts'
import { type MailTransport, maxAnswerCharacters } from './mail-transport.ts'
import { mimeMessage } from './mime-message.ts'

/** How long the server waits: for the connection, for the greeting, and in silence while a mail is transferred. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }
/** Few, because mail servers refuse a client that opens many. */
const maxConnections = 4

/** The connection that `SMTP_URL` describes. */
export function smtpOptions(url: string): SMTPPoolOptions {
  const { protocol, hostname, port, username, password } = new URL(url)
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  const isSecure = protocol === 'smtps:'
  const isLocal = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
  return {
    host,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      // Otherwise someone between the servers could remove the offer of TLS and read the password.
      requireTLS: !isSecure && !isLocal,
    }),
  }
}

/** Sends mails through the operator's mail server. */
export function createSmtpTransport(
  url: string,
  options: Pick<SMTPPoolOptions, keyof typeof timeouts | 'tls'> = {},
): MailTransport {
  const pool = createTransport({
    ...timeouts,
    ...options,
    ...smtpOptions(url),
    dnsTimeout: timeouts.connectionTimeout,
    pool: true,
    maxConnections,
    // A kept connection may have been closed by the server. Everything else is tried again by the schedule of the delivery.
    maxRequeues: 1,
  })
  return {
    async send(mail) {
      try {
        const { response } = await pool.sendMail(mimeMessage(mail))
        return { kind: 'delivered', ...codeOf(response), answer: cutText(response, maxAnswerCharacters) }
      } catch (error) {
        return outcomeOf(error as NodemailerError)
      }
    },
    async close() {
      pool.close({ force: true })
    },
  }
}

const codeOf = (response: string) => {
  const code = /^\d{3}/.exec(response)?.[0]
  return code === undefined ? {} : { code: Number(code) }
}

/** Replies to MAIL, RCPT and DATA. A refused login or greeting is a problem of the operator, who can solve it. */
const aboutThisMail: readonly (string | undefined)[] = ['EENVELOPE', 'EMESSAGE']

function outcomeOf({ code, responseCode, response, message }: NodemailerError): Outcome {
  if (responseCode === undefined) {
    // Without a reply of the server, nodemailer itself refused an address.
    return code === 'EENVELOPE'
      ? { kind: 'refused', error: cutText(message, maxAnswerCharacters) }
      : { kind: 'failed', error: `The mail server did not answer: ${cutText(message, 200)}` }
  }
  const isRefused = responseCode >= 500 && aboutThisMail.includes(code)
  const answer = cutText(response ?? message, maxAnswerCharacters)
  return {
    kind: isRefused ? 'refused' : 'failed',
    code: responseCode,
    answer,
    error: `The mail server ${isRefused ? 'refused' : 'did not accept'} the mail: ${cutText(answer, 200)}`,
  }
}
