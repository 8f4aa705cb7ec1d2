import { randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { sealBody } from './seal-body.ts'
import { signedHeaders } from './signatures.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const payload = { event: 'comment.add', data: { text: 'Grüße 🌍' } }
const body = JSON.stringify(payload)

test('[24.8] the signature of the check vector is right', () => {
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
  const message = { id: 'msg_1', now: 1_700_000_000_999, body: '{"event":"comment.add","webhookId":"w1"}' }
  expect(signedHeaders(message, [secret])).toEqual({
    'webhook-id': 'msg_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': 'v1,KIQhdGnffNtEPM+CtZnpnhUZvKQaWMr+AQHDzS969cM=',
  })
})

describe.each([
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
])('%s', (_, Webhook) => {
  const verify = (secret: string, text: string, headers: Record<string, string>) =>
    new Webhook(secret).verify(text, headers)

  test('[24.8] verifies a delivery, and refuses another secret, body, id or time', () => {
    const secret = newSecret()
    const headers = signedHeaders({ id: 'msg_1', now: Date.now(), body }, [secret])
    expect(verify(secret, body, headers)).toEqual(payload)
    expect(() => verify(newSecret(), body, headers)).toThrow()
    expect(() => verify(secret, `${body} `, headers)).toThrow()
    expect(() => verify(secret, body, { ...headers, 'webhook-id': 'msg_2' })).toThrow()
    const later = String(Number(headers['webhook-timestamp']) + 1)
    expect(() => verify(secret, body, { ...headers, 'webhook-timestamp': later })).toThrow()
    const old = signedHeaders({ id: 'msg_1', now: Date.now() - 10 * 60_000, body }, [secret])
    expect(() => verify(secret, body, old)).toThrow()
  })

  test('[24.8] [24.19] verifies a delivery with the new and with the old secret during a rotation', () => {
    const [next, previous] = [newSecret(), newSecret()]
    const headers = signedHeaders({ id: 'msg_1', now: Date.now(), body }, [next, previous])
    expect(verify(next, body, headers)).toEqual(payload)
    expect(verify(previous, body, headers)).toEqual(payload)
    expect(() => verify(newSecret(), body, headers)).toThrow()
  })

  test('[24.8] [24.7] the body that is signed is the body that is sent, after it was encoded', () => {
    const secret = newSecret()
    const encoded = sealBody(payload, { encodeData: true })
    const headers = signedHeaders({ id: 'msg_1', now: Date.now(), body: encoded }, [secret])
    expect(verify(secret, encoded, headers)).toEqual(JSON.parse(encoded))
    expect(() => verify(secret, body, headers)).toThrow()
  })
})
