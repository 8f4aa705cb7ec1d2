import { createHmac } from 'node:crypto'

interface SignedMessage {
  /** The same at every attempt, so that receivers recognize a message that arrives twice. */
  id: string
  /** When this attempt begins, in milliseconds. */
  now: number
  /** The body as it is sent. */
  body: string
}

/** The headers that prove a delivery to an endpoint (spec 24.8): one signature for each secret that is valid now. */
export function signedHeaders(
  { id, now, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
