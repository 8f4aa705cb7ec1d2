import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { onTestFinished, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { createOutgoingPost, type OutgoingPostDeps } from '../../platform/outgoing/outgoing-post.ts'
import { sendWebhook } from './send-webhook.ts'

type Answer = (response: ServerResponse, incoming: IncomingMessage) => void

/** A receiver on the loopback address. Returns its URL. */
async function receiver(answer: Answer): Promise<string> {
  const server = createServer((incoming, response) => answer(response, incoming))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=canary`
}

function scene(deps: Partial<OutgoingPostDeps> = {}) {
  const clock = new SteppedClock()
  let onHeaders = () => {}
  /** Resolves when the headers of the answer have arrived. */
  const headersArrived = new Promise<void>((resolve) => (onHeaders = resolve))
  const send: OutgoingPostDeps['send'] = (url, options) => request(url, options).once('response', onHeaders)
  const post = createOutgoingPost({ clock, privateAddresses: 'allowed', send, ...deps })
  const stop = new AbortController()
  const deliver = (url: string, headers: Record<string, string> = {}) =>
    sendWebhook({ post, signal: stop.signal }, { url, headers, body: '{"event":"comment.add"}' })
  return { clock, headersArrived, stop, deliver }
}

test('[24.21.6] a webhook is one POST with the given headers and exactly the given body', async () => {
  const requests: unknown[] = []
  const url = await receiver((response, incoming) => {
    const { method, url: path, headers } = incoming
    void readText(incoming).then((text) => {
      requests.push({ method, path, headers, text })
      response.end('thanks')
    })
  })
  const { deliver, clock } = scene()
  expect(await deliver(url, { 'webhook-id': 'msg_1' })).toEqual({
    kind: 'delivered',
    code: 200,
    answer: 'thanks',
  })
  expect(requests).toEqual([
    {
      method: 'POST',
      path: '/hook?key=canary',
      headers: {
        host: new URL(url).host,
        'content-type': 'application/json',
        'content-length': '23',
        'user-agent': 'Plenum',
        'webhook-id': 'msg_1',
        connection: 'close',
      },
      text: '{"event":"comment.add"}',
    },
  ])
  expect(clock.pending).toBe(0)
})

test.each<[status: number, kind: string, error: string | undefined]>([
  [200, 'delivered', undefined],
  [202, 'delivered', undefined],
  [204, 'delivered', undefined],
  [299, 'delivered', undefined],
  [
    300,
    'failed',
    'The receiver answered with a redirect, which is not followed (HTTP 300 Multiple Choices).',
  ],
  [302, 'failed', 'The receiver answered with a redirect, which is not followed (HTTP 302 Found).'],
  [
    308,
    'failed',
    'The receiver answered with a redirect, which is not followed (HTTP 308 Permanent Redirect).',
  ],
  [400, 'failed', 'The receiver answered with HTTP 400 Bad Request.'],
  [404, 'failed', 'The receiver answered with HTTP 404 Not Found.'],
  [410, 'refused', 'The receiver wants no more deliveries (HTTP 410 Gone).'],
  [429, 'failed', 'The receiver answered with HTTP 429 Too Many Requests.'],
  [500, 'failed', 'The receiver answered with HTTP 500 Internal Server Error.'],
  [599, 'failed', 'The receiver answered with HTTP 599.'],
])('[24.21.6] [24.21.1] a receiver that answers %i leads to: %s', async (code, kind, error) => {
  let requests = 0
  const url = await receiver((response) => {
    requests++
    response.writeHead(code, { location: '/elsewhere' }).end()
  })
  expect(await scene().deliver(url)).toEqual({
    kind,
    code,
    answer: '',
    ...(error !== undefined && { error }),
  })
  expect(requests).toBe(1)
})

test('[24.21.6] a receiver that is down, or closes the connection without an answer, has failed', async () => {
  const { deliver } = scene()
  const closed = createTcpServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await new Promise((onClosed) => closed.close(onClosed))
  expect(await deliver(`http://127.0.0.1:${port}/?key=canary`)).toEqual({
    kind: 'failed',
    error: 'The receiver refused the connection.',
  })
  const reset = { kind: 'failed', error: 'The receiver closed the connection before it answered.' }
  expect(await deliver(await receiver((response) => response.destroy()))).toEqual(reset)
})

test('[24.21.6] a receiver that does not speak HTTP has failed', async () => {
  const server = createTcpServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect(await scene().deliver(`http://127.0.0.1:${port}/?key=canary`)).toEqual({
    kind: 'failed',
    error: expect.stringMatching(/^The connection failed \(HPE_\w+\)\.$/),
  })
  const upgrading = await receiver((response) => {
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
  })
  expect(await scene().deliver(upgrading)).toEqual({
    kind: 'failed',
    code: 101,
    answer: '',
    error: 'The receiver answered with HTTP 101 Switching Protocols.',
  })
})

test('[24.21.6] a receiver that hangs has failed after 15 s', async () => {
  let onRequest = () => {}
  const requested = new Promise<void>((resolve) => (onRequest = resolve))
  const { deliver, clock } = scene()
  const outcome = deliver(await receiver(() => onRequest()))
  await requested
  clock.step(15_000)
  expect(await outcome).toEqual({ kind: 'failed', error: 'No answer within 15000 ms.' })
  expect(clock.pending).toBe(0)
})

test.each<[code: number, kind: string]>([
  [200, 'delivered'],
  [500, 'failed'],
  [410, 'refused'],
])(
  '[24.21.7] a receiver that answers %i and then drips its body is %s by its status, 1 s later',
  async (code, kind) => {
    let onRequest: (response: ServerResponse) => void = () => {}
    const requested = new Promise<ServerResponse>((resolve) => (onRequest = resolve))
    const { deliver, clock, headersArrived } = scene()
    const outcome = deliver(await receiver((response) => onRequest(response)))
    const response = await requested
    clock.step(14_900)
    response.writeHead(code).write('x')
    await headersArrived
    clock.step(999)
    expect(clock.pending).toBe(1)
    clock.step(1)
    expect(await outcome).toMatchObject({ kind, code, answer: expect.stringMatching(/^x?$/) })
    expect(clock.pending).toBe(0)
  },
)

test('[24.21.7] of an answer with 100 MB only the first 2 KB are read', async () => {
  const megabyte = 'é'.repeat(512 * 1024)
  let written = 0
  let onClosed = () => {}
  const closed = new Promise<void>((resolve) => (onClosed = resolve))
  const url = await receiver((response) => {
    const write = () => {
      while (written < 100 && !response.destroyed) {
        written++
        if (!response.write(megabyte)) return void response.once('drain', write)
      }
    }
    response.on('close', onClosed)
    write()
  })
  const { deliver, clock } = scene()
  expect(await deliver(url)).toEqual({ kind: 'delivered', code: 200, answer: 'é'.repeat(1024) })
  await closed
  expect(written).toBeLessThan(20)
  expect(clock.pending).toBe(0)
})

test('[24.21.7] a receiver that closes the connection within its body is decided by its status', async () => {
  const url = await receiver((response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  expect(await scene().deliver(url)).toMatchObject({ kind: 'delivered', code: 200 })
})

test('[24.21.7] the answer is text that both databases store, without the auth token', async () => {
  const url = await receiver((response, { headers }) => {
    response.write(`got ${headers.authorization} `)
    response.end(Buffer.from([0x61, 0x00, 0xff, 0x62]))
  })
  const { deliver } = scene()
  expect(await deliver(url, { authorization: 'Basic my secret' })).toEqual({
    kind: 'delivered',
    code: 200,
    answer: 'got Basic ... a\ufffd\ufffdb',
  })
})

test('[24.21.6] an attempt ends when the server stops, unless the status is known', async () => {
  let onRequest = () => {}
  const requested = new Promise<void>((resolve) => (onRequest = resolve))
  const hanging = scene()
  const outcome = hanging.deliver(await receiver(() => onRequest()))
  await requested
  hanging.stop.abort(new Error('The server stops.'))
  expect(await outcome).toEqual({ kind: 'failed', error: 'The server stops.' })

  const dripping = scene()
  const delivered = dripping.deliver(await receiver((response) => void response.writeHead(200).write('x')))
  await dripping.headersArrived
  dripping.stop.abort(new Error('The server stops.'))
  dripping.clock.step(1000)
  expect(await delivered).toMatchObject({ kind: 'delivered', code: 200 })
})

test.each<[url: string, error: string]>([
  [
    'http://127.0.0.1/?key=canary',
    'The host has no public address (OUTGOING_PRIVATE_ADDRESSES, WEBHOOK_ALLOW_CIDR).',
  ],
  ['http://example.com:25/?key=canary', 'The server does not call URLs of this kind.'],
  ['https://missing.example/?key=canary', 'The DNS does not know the name of the host.'],
])('[24.21.6] [N1] a URL that cannot be called is a failure: %s', async (url, error) => {
  const resolve = () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }))
  const send = () => {
    throw new Error('Nothing may be sent.')
  }
  const { deliver } = scene({ privateAddresses: 'refused', resolve, send })
  expect(await deliver(url)).toEqual({ kind: 'failed', error })
})
