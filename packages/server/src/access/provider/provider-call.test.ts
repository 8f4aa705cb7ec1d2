import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { OutgoingAnswer, OutgoingRequest } from '../../platform/outgoing/outgoing-post.ts'
import { AnswerTooLarge } from '../../platform/outgoing/read-answer.ts'
import { AddressRefused } from '../../platform/outgoing/resolve-host.ts'
import { createSecrets } from '../credentials/secrets.ts'
import { callProvider } from './provider-call.ts'
import { questionKey } from './question.ts'
import { signPermissions } from './signature.ts'

const secrets = createSecrets('a secret key that only these tests use')
const question = {
  userId: 'u1',
  organizationId: 'o1',
  type: 'document',
  id: 'd1',
  source: 'setDocuments',
  parentFolderId: 'f1',
} as const
const entry = {
  userId: 'u1',
  resourceId: 'd1',
  type: 'document',
  organizationId: 'o1',
  hasAccess: true,
} as const
const valid = { data: [entry], success: true, statusCode: 200 }

/** Calls a provider that answers its attempts with these functions, one after the other. */
function scene(...attempts: ((request: OutgoingRequest) => OutgoingAnswer | Promise<OutgoingAnswer>)[]) {
  const clock = new SteppedClock()
  const stop = new AbortController()
  const sent: OutgoingRequest[] = []
  const sentAt: number[] = []
  const warnings: object[] = []
  const settings = {
    enabled: true,
    config: { permissionProviderUrl: 'https://example.com/permissions?x=1', revision: 'r1' },
    credential: 'token',
  }
  const post = async (request: OutgoingRequest) => {
    sentAt.push(clock.elapsed())
    sent.push(request)
    return (attempts[sent.length - 1] as (typeof attempts)[number])(request)
  }
  const log = { warn: (fields: object) => void warnings.push(fields) }
  const result = callProvider({ post, secrets, clock, log }, 'key_1', settings, [question], stop.signal)
  return { clock, stop, sent, sentAt, warnings, result }
}

const answering =
  (body: unknown, status = 200) =>
  () => ({
    status,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })
const failing = (error = new Error('connect ECONNREFUSED')) => {
  const fail = async () => {
    throw error
  }
  return fail
}

test('[7.8.1] the request has the form of the specification, and 10 s and 1 MiB for its answer', async () => {
  const { sent, result } = scene(answering(valid))
  expect(await result).toEqual(new Map([[questionKey(question), entry]]))
  expect(sent).toHaveLength(1)
  const [{ url, headers, body, timeoutMs, maxAnswerBytes }] = sent as [OutgoingRequest]
  expect(url.href).toBe('https://example.com/permissions?x=1')
  expect(headers).toEqual({ authorization: 'Bearer token' })
  expect(body).toBe(
    '{"data":{"requests":[{"userId":"u1","resource":{"id":"d1","type":"document","source":"setDocuments","organizationId":"o1","parentFolderId":"f1"}}]}}',
  )
  expect({ timeoutMs, maxAnswerBytes }).toEqual({ timeoutMs: 10_000, maxAnswerBytes: 1_048_576 })
})

test('[7.8.2] unknown keys are ignored, and the first of two entries applies', async () => {
  const data = [
    { ...entry, note: 'x' },
    { ...entry, hasAccess: false },
  ]
  const { result } = scene(answering({ ...valid, data, message: 'Fine.', took: 3 }))
  expect((await result)?.get(questionKey(question))).toMatchObject({ hasAccess: true })
})

const { hasAccess: _, ...withoutAccess } = entry
test.each<[title: string, body: unknown, status?: number]>([
  ['no JSON', 'fine'],
  ['an empty body', ''],
  ['null', null],
  ['no success', { ...valid, success: false }],
  ['another status code', { ...valid, statusCode: 201 }],
  ['a status code that is a text', { ...valid, statusCode: '200' }],
  ['data that is no array', { ...valid, data: entry }],
  ['an entry without hasAccess', { ...valid, data: [entry, withoutAccess] }],
  ['hasAccess that is no boolean', { ...valid, data: [{ ...entry, hasAccess: 'true' }] }],
  ['an unknown role', { ...valid, data: [{ ...entry, accessRole: 'owner' }] }],
  ['an expiry that is a text', { ...valid, data: [{ ...entry, expiresAt: '1893456000000' }] }],
  ['an unknown type', { ...valid, data: [{ ...entry, type: 'team' }] }],
  ['no organization', { ...valid, data: [{ ...entry, organizationId: undefined }] }],
  ['a message that is no text', { ...valid, message: 1 }],
  ['a signature that is no text', { ...valid, signature: 1 }],
  ['a wrong signature', { ...valid, signature: 'a'.repeat(64) }],
  ['deep JSON', `{"data":${'['.repeat(500_000)}`],
  ['very many keys', `{${Array.from({ length: 20_000 }, (_, key) => `"${key}":1`).join()}}`],
  ['HTTP 201', valid, 201],
  ['HTTP 204', valid, 204],
  ['a redirect', valid, 302],
  ['HTTP 401', valid, 401],
])('[7.8.2] %s is no answer, and the provider is not asked again', async (_, body, status) => {
  const { result, sent, warnings } = scene(answering(body, status))
  expect(await result).toBeUndefined()
  expect(sent).toHaveLength(1)
  expect(warnings).toMatchObject([{ apiKey: 'key_1', attempts: 1 }])
  expect(JSON.stringify(warnings)).not.toContain('token')
})

test('[7.8.3] an answer with its signature is accepted', async () => {
  const signature = signPermissions(secrets.permissionSignatureKey('key_1'), [entry])
  expect(await scene(answering({ ...valid, signature })).result).toBeDefined()
  const changed = { ...valid, data: [{ ...entry, accessRole: 'editor' }], signature }
  expect(await scene(answering(changed)).result).toBeUndefined()
})

test('[7.8.4] after a failed connection and HTTP 408, 429 and 5xx the provider is asked again 2 s later', async () => {
  for (const first of [
    failing(),
    answering('', 408),
    answering('', 429),
    answering('', 500),
    answering('', 503),
  ]) {
    const { result, clock, sentAt, warnings } = scene(first, failing(), answering(valid))
    for (const attempts of [1, 2]) {
      await expect.poll(() => clock.pending).toBe(1)
      clock.step(1999)
      await setImmediate()
      expect(sentAt).toHaveLength(attempts)
      clock.step(1)
    }
    expect(await result).toBeDefined()
    expect(sentAt).toEqual([0, 2000, 4000])
    expect(warnings).toEqual([])
  }
})

test('[7.8.4] three failed attempts are no answer', async () => {
  const { result, clock, sent, warnings } = scene(failing(), failing(), failing(new Error('No answer.')))
  for (const _ of [1, 2]) {
    await expect.poll(() => clock.pending).toBe(1)
    clock.step(2000)
  }
  expect(await result).toBeUndefined()
  expect(sent).toHaveLength(3)
  expect(warnings).toEqual([{ apiKey: 'key_1', reason: 'No answer.', attempts: 3 }])
  expect(clock.pending).toBe(0)
})

test('[7.8.4] [N1] a refused address and an answer that is too large are not tried again', async () => {
  for (const error of [new AddressRefused('refused'), new AnswerTooLarge('large')]) {
    const { result, sent } = scene(failing(error))
    expect(await result).toBeUndefined()
    expect(sent).toHaveLength(1)
  }
})

test('[7.8.4] a server that stops does not wait for the next attempt', async () => {
  const { result, clock, stop, warnings } = scene(failing(), failing())
  await expect.poll(() => clock.pending).toBe(1)
  stop.abort()
  expect(await result).toBeUndefined()
  expect({ timers: clock.pending, warnings }).toEqual({ timers: 0, warnings: [] })
})
