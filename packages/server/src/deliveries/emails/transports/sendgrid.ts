import type { OutgoingPost } from '../../../platform/outgoing/outgoing-post.ts'
import { cutText } from '../../../platform/cut-text.ts'
import type { Outcome } from '../../outcome.ts'
import { type MailAddress, maxAnswerCharacters, type OutgoingMail } from './mail-transport.ts'

const timeoutMs = 15_000
const maxAnswerBytes = 64 * 1024
/** The same request would be answered in the same way: it or the credential is wrong. */
const finalCodes = [400, 401, 403, 413]

interface SendGridDeps {
  post: OutgoingPost
  /** The credential of the API key. */
  credential: string
  baseUrl: string
  /** Ends the request, for a server that stops. */
  signal?: AbortSignal | undefined
}

/** Sends a mail through SendGrid, with the credential of an API key. */
export async function sendWithSendGrid(
  { post, credential, baseUrl, signal = new AbortController().signal }: SendGridDeps,
  mail: OutgoingMail,
): Promise<Outcome> {
  try {
    const { status, body } = await post({
      url: new URL('/v3/mail/send', baseUrl),
      headers: { authorization: `Bearer ${credential}` },
      body: JSON.stringify(requestOf(mail)),
      timeoutMs,
      maxAnswerBytes,
      signal,
    })
    return outcomeOf(status, body.toString('utf8'))
  } catch (error) {
    return { kind: 'failed', error: `SendGrid did not answer: ${cutText((error as Error).message, 200)}` }
  }
}

/** The body of `POST /v3/mail/send`. */
function requestOf(mail: OutgoingMail): Record<string, unknown> {
  const { from, replyTo, to, subject, html, text, messageId, threadId, headers, template } = mail
  const thread = threadId === undefined ? undefined : `<${threadId}>`
  return {
    personalizations: [{ to: [addressOf(to)], ...(template && { dynamic_template_data: template.data }) }],
    from: addressOf(from),
    ...(replyTo && { reply_to: addressOf(replyTo) }),
    subject,
    ...(template
      ? { template_id: template.id }
      : {
          content: [
            { type: 'text/plain', value: text },
            { type: 'text/html', value: html },
          ],
        }),
    headers: {
      ...headers,
      'Message-ID': `<${messageId}>`,
      ...(thread !== undefined && { 'In-Reply-To': thread, References: thread }),
    },
    // SendGrid would replace the links by its own, and add an image that reports who reads the mail.
    tracking_settings: {
      click_tracking: { enable: false, enable_text: false },
      open_tracking: { enable: false },
    },
  }
}

const addressOf = ({ name, address }: MailAddress) => ({ email: address, ...(name !== '' && { name }) })

function outcomeOf(code: number, body: string): Outcome {
  const answer = cutText(body, maxAnswerCharacters)
  if (code >= 200 && code < 300) return { kind: 'delivered', code, ...(answer !== '' && { answer }) }
  const isFinal = finalCodes.includes(code)
  return {
    kind: isFinal ? 'refused' : 'failed',
    code,
    answer,
    error: `SendGrid ${isFinal ? 'refused' : 'did not accept'} the mail (HTTP ${code}): ${cutText(reasonIn(body), 200)}`,
  }
}

/** The messages in SendGrid's `{ errors: [{ message, field }] }`. */
function reasonIn(body: string): string {
  try {
    const { errors } = JSON.parse(body) as { errors?: { message?: unknown }[] }
    const messages = errors?.flatMap(({ message }) => (typeof message === 'string' ? message : []))
    return messages?.join(' ') || body
  } catch {
    return body
  }
}
