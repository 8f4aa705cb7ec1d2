import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MailRequest } from './compose-mail.ts'
import { createSendEmail } from './send-email.ts'
import { systemClock } from '../../platform/clock.ts'
import { createOutgoingPost } from '../../platform/outgoing/outgoing-post.ts'
import { activity, mailRequest, recipient } from '../../../test/support/receivers/mails.ts'

interface Request {
  method: string | undefined
  url: string | undefined
  headers: IncomingHttpHeaders
  // eslint-disable-next-line typescript/no-explicit-any
  body: any
}

/** A server that answers as SendGrid does. */
async function sendGrid(status = 202, answer = '') {
  const requests: Request[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      requests.push({ method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
      response.writeHead(status).end(answer)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { requests, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const settings = {
  type: 'sendgrid' as const,
  credential: 'SG.secret',
  fromEmail: 'notify@acme.example',
  fromCompany: 'Acme',
}

function send(baseUrl: string, changes: Partial<MailRequest> = {}) {
  const sendEmail = createSendEmail({
    transport: {
      send: () => Promise.reject(new Error('The API key has a provider.')),
      close: async () => {},
    },
    post: createOutgoingPost({ clock: systemClock, privateAddresses: 'allowed' }),
    mailFrom: 'plenum@example.com',
    unsubscribeUrlOf: ({ userId }) => `https://plenum.example.com/unsubscribe/${userId}`,
    sendGridUrl: baseUrl,
  })
  const unsubscribe = { apiKey: 'key_1', organizationId: 'org_1', documentId: 'doc_1', userId: 'token' }
  return sendEmail({ ...mailRequest({ settings, ...changes }), unsubscribe })
}

describe('mails through SendGrid', () => {
  test('[3.4.10] a mail is one request with the credential of the API key', async () => {
    const { requests, baseUrl } = await sendGrid()
    expect(await send(baseUrl)).toEqual({ kind: 'delivered', code: 202 })
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/v3/mail/send',
        headers: { authorization: 'Bearer SG.secret', 'content-type': 'application/json' },
        body: {
          personalizations: [{ to: [{ email: 'grace@example.com', name: 'Grace Hopper' }] }],
          from: { email: 'notify@acme.example', name: 'Ada Lovelace via Acme' },
          reply_to: { email: 'ada@example.com', name: 'Ada Lovelace' },
          subject: 'Ada Lovelace replied on Launch plan',
          content: [
            { type: 'text/plain', value: expect.stringContaining('Please check the table.') },
            { type: 'text/html', value: expect.stringContaining('Please check the table.') },
          ],
          headers: {
            'Message-ID': '<del_1234567890@acme.example>',
            'In-Reply-To': expect.stringMatching(/^<thread\./),
            References: expect.stringMatching(/^<thread\./),
            'Auto-Submitted': 'auto-generated',
            'List-Unsubscribe': '<https://plenum.example.com/unsubscribe/token>',
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          },
          tracking_settings: { click_tracking: { enable: false }, open_tracking: { enable: false } },
        },
      },
    ])
    expect(requests[0]?.body).not.toHaveProperty('template_id')
  })

  test('[3.4.11] with a template id the request has the template and its data', async () => {
    const { requests, baseUrl } = await sendGrid()
    const from = { userId: 'ada', name: 'Ada Lovelace' }
    const latestComment = { commentId: 2, commentText: 'Please check the table.', from }
    const content = activity({
      commentsCount: 4,
      actor: { ...from, email: 'ada@example.com', photoUrl: 'javascript:alert(1)' },
      template: {
        latestComment,
        commentAnnotation: { annotationId: 'a1' },
        documentMetadata: { documentName: 'Launch plan' },
        deviceInfo: { os: 'Linux' },
      },
    })
    await send(baseUrl, { content, settings: { ...settings, commentTemplateId: 'd-comment' } })
    const { template_id, content: sent, personalizations } = requests[0]?.body ?? {}
    expect(template_id).toBe('d-comment')
    expect(sent).toBeUndefined()
    expect(personalizations[0].dynamic_template_data).toEqual({
      firstComment: null,
      latestComment,
      prevComment: null,
      commentsCount: 4,
      commentsCountMoreThanThree: true,
      fromUser: { ...from, email: 'ada@example.com', photoUrl: '' },
      commentAnnotation: { annotationId: 'a1' },
      actionType: 'comment.added',
      documentMetadata: { documentName: 'Launch plan' },
      message: 'Please check the table.',
      messageFromName: 'Ada Lovelace',
      name: 'Grace Hopper',
      fromEmail: 'ada@example.com',
      photoUrl: '',
      pageUrl: 'https://app.example.com/launch?thread=a1&x=%221%22',
      pageTitle: 'Launch plan',
      deviceInfo: { os: 'Linux' },
      subject: 'Ada Lovelace replied on Launch plan',
      unsubscribeUrl: 'https://plenum.example.com/unsubscribe/token',
    })
  })

  test.each([
    ['a mention', 'd-tag', activity({ mentionedUserIds: ['grace'] })],
    ['another comment', 'd-comment', activity()],
    ['a digest', undefined, activity({}, {})],
  ])('[3.4.11] %s has the template %s', async (_what, id, content) => {
    const { requests, baseUrl } = await sendGrid()
    const templates = { commentTemplateId: 'd-comment', tagTemplateId: 'd-tag' }
    await send(baseUrl, { content, settings: { ...settings, ...templates } })
    expect(requests[0]?.body.template_id).toBe(id)
  })

  test.each([
    [400, 'refused'],
    [401, 'refused'],
    [403, 'refused'],
    [413, 'refused'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [302, 'failed'],
  ] as const)('[3.4.10] a mail that SendGrid answers with HTTP %i is %s', async (status, kind) => {
    const answer = JSON.stringify({
      errors: [{ message: 'The from address is not verified.', field: 'from' }],
    })
    const { baseUrl } = await sendGrid(status, answer)
    const outcome = await send(baseUrl)
    expect(outcome).toMatchObject({ kind, code: status, answer })
    expect(outcome).toMatchObject({ error: expect.stringContaining('The from address is not verified.') })
    expect(JSON.stringify(outcome)).not.toContain('SG.secret')
  })

  test('[3.4.10] a long answer is cut, and an endless one makes the mail fail', async () => {
    const { baseUrl } = await sendGrid(500, 'x'.repeat(10_000))
    const outcome = await send(baseUrl)
    expect(outcome.answer).toHaveLength(2048)
    const endless = await sendGrid(500, 'x'.repeat(200_000))
    expect(await send(endless.baseUrl)).toMatchObject({ kind: 'failed' })
  })

  test('[3.4.10] a mail fails if SendGrid cannot be reached', async () => {
    expect(await send('http://127.0.0.1:1')).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('SendGrid did not answer'),
    })
  })

  test('[3.4.10] a mail of an API key without a credential, or to an invalid address, is refused', async () => {
    const { requests, baseUrl } = await sendGrid()
    expect(await send(baseUrl, { settings: { type: 'sendgrid' } })).toMatchObject({ kind: 'refused' })
    expect(await send(baseUrl, { recipient: { ...recipient, email: 'nobody' } })).toMatchObject({
      kind: 'refused',
    })
    expect(requests).toEqual([])
  })
})
