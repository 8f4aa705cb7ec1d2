import { STATUS_CODES } from 'node:http'
import type { OutgoingPost } from '../../platform/outgoing/outgoing-post.ts'
import { AddressRefused, UrlRefused } from '../../platform/outgoing/resolve-host.ts'
import type { Outcome } from '../outcome.ts'

interface SendWebhookDeps {
  post: OutgoingPost
  /** Ends the attempt, for a server that stops. */
  signal: AbortSignal
}

interface WebhookRequest {
  /** It was checked when it was stored. */
  url: string
  headers: Record<string, string>
  body: string
}

const timeoutMs = 15_000
const maxAnswerBytes = 2048
/** The status decides. An operator likes to see the body, but does not wait for it. */
const cutAnswerAfterMs = 1000

/** Sends a webhook once. A receiver that fails in any way is an outcome. */
export async function sendWebhook(
  { post, signal }: SendWebhookDeps,
  { url, headers, body }: WebhookRequest,
): Promise<Outcome> {
  const limits = { timeoutMs, maxAnswerBytes, cutAnswerAfterMs }
  // Firewalls in front of receivers refuse requests without a user agent.
  const sent = { 'user-agent': 'Plenum', ...headers }
  try {
    const { status, body: bytes } = await post({ url: new URL(url), headers: sent, body, signal, ...limits })
    return outcomeOf(status, readable(bytes, headers))
  } catch (error) {
    return { kind: 'failed', error: sentenceFor(error) }
  }
}

function outcomeOf(code: number, answer: string): Outcome {
  if (code >= 200 && code < 300) return { kind: 'delivered', code, answer }
  const status = [`HTTP ${code}`, STATUS_CODES[code]].filter(Boolean).join(' ')
  if (code === 410) {
    return { kind: 'refused', code, answer, error: `The receiver wants no more deliveries (${status}).` }
  }
  const isRedirect = code >= 300 && code < 400
  const error = isRedirect
    ? `The receiver answered with a redirect, which is not followed (${status}).`
    : `The receiver answered with ${status}.`
  return { kind: 'failed', code, answer, error }
}

/** The answer as text that both databases store. A receiver may echo what it got, so the auth token is removed. */
function readable(bytes: Buffer, { authorization }: WebhookRequest['headers']): string {
  const text = new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd')
  const credential = authorization?.split(' ').slice(1).join(' ')
  return credential ? text.replaceAll(credential, '...') : text
}

/** Errors of connections, by their code. The messages of Node contain addresses. */
const sentences: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection before it answered.',
  EPIPE: 'The receiver closed the connection before it answered.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  ETIMEDOUT: 'The host does not answer.',
  ENOTFOUND: 'The DNS does not know the name of the host.',
  ENODATA: 'The name of the host has no address.',
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too large.',
}

function sentenceFor(error: unknown): string {
  if (error instanceof AddressRefused && !(error instanceof UrlRefused)) {
    return 'The host has no public address (OUTGOING_PRIVATE_ADDRESSES, WEBHOOK_ALLOW_CIDR).'
  }
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return sentences[code] ?? `The connection failed (${code}).`
  return error instanceof Error ? error.message : 'The connection failed.'
}
