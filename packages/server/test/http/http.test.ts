import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { startServer, type TestServer, useServer } from '../support/harness.ts'
import { exchange, openHttp, post, type RawAnswer } from '../support/clients/raw-http.ts'

const get = '/v2/organizations/get'
const whole = '{"data":{}}'
const retrieved = {
  result: { status: 'success', message: 'Organization(s) retrieved successfully.', data: [] },
}
const addBody = (organizationId: string) => JSON.stringify({ data: { organizations: [{ organizationId }] } })

/** Checks that the answer has the headers of every answer, and returns its status and body. */
function checkedAnswer(answer: RawAnswer | undefined) {
  expect(answer?.headers).toMatchObject({
    'x-request-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-z]+$/),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  return { status: answer?.status, body: answer?.text ? JSON.parse(answer.text) : undefined }
}
const refused = (status: number, message: string) => ({
  status,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})
const malformed = refused(400, 'Malformed request.')

describe('[0.1] HTTP', () => {
  const server = useServer('sqlite', { isOwn: true })
  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
  })
  afterAll(async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    // No request of a client causes an internal error.
    expect(server.logged.filter((line) => !/"level":"(info|debug|trace)"/.test(line))).toEqual([])
  })
  const send = async (bytes: string | Uint8Array) => checkedAnswer(await exchange(server.url, bytes))
  const ask = (headers: Record<string, string> = {}, body = whole) =>
    send(post(get, { ...tenant.headers, ...headers }, body))

  test.each([
    ['bytes that are not HTTP', Buffer.from('160301020001000123', 'hex')],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nhost: test\r\n\r\n'],
    ['an unknown version of HTTP', 'GET / HTTP/7.3\r\nhost: test\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no host', `POST ${get} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`],
    ['a header without a colon', 'GET / HTTP/1.1\r\nhost: test\r\nnonsense\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: test\r\nx: a\0b\r\n\r\n'],
    ['percent signs that encode nothing', post('/v2/%zz')],
    ['a percent sign without digits', post('/%')],
    ['a negative length', post(get, { 'content-length': '-1' })],
    ['two lengths', `POST ${get} HTTP/1.1\r\nhost: t\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    [
      'a length and chunks',
      post(get, { 'content-length': '4', 'transfer-encoding': 'chunked' }, '0\r\n\r\n'),
    ],
    [
      'chunks that are not the last encoding',
      post(get, { 'transfer-encoding': 'chunked, gzip' }, '0\r\n\r\n'),
    ],
  ])('[0.1.5] [0.1.6] [0.1.9] a request with %s is refused with a JSON error', async (_what, bytes) => {
    expect(await send(bytes)).toEqual(malformed)
  })

  test.each([
    ['a size that is not a number', `zz\r\n${whole}\r\n0\r\n\r\n`],
    ['a size of 17 hexadecimal digits', `fffffffffffffffff\r\n${whole}`],
    ['a chunk longer than its size', `5\r\n${whole}\r\n0\r\n\r\n`],
    ['an endless extension', `b;${'x'.repeat(20_000)}\r\n${whole}\r\n0\r\n\r\n`],
  ])('[0.1.5] a chunked body with %s is refused with a JSON error', async (_what, chunks) => {
    expect(await ask({ 'transfer-encoding': 'chunked' }, chunks)).toEqual(malformed)
  })

  test('[0.1] [0.1.9] the server answers unusual but allowed requests', async () => {
    const expected = { status: 200, body: retrieved }
    expect(await ask({ 'transfer-encoding': 'chunked' }, `b\r\n${whole}\r\n0\r\n\r\n`)).toEqual(expected)
    expect(await ask({ expect: 'the unexpected' })).toEqual(expected)
    expect(await ask({ connection: 'upgrade', upgrade: 'websocket' })).toEqual(expected)
    expect(await ask({ connection: 'upgrade', upgrade: 'h2c' })).toEqual(expected)
    expect(await send(post(`http://test${get}`, tenant.headers, whole))).toEqual(expected)
    expect(await ask(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x-${i}`, ''])))).toEqual(
      expected,
    )
    const connection = openHttp(server.url)
    connection.send(post(get, { ...tenant.headers, expect: '100-continue' }, whole))
    expect((await connection.answer())?.status).toBe(100)
    expect(checkedAnswer(await connection.answer())).toEqual(expected)
    connection.socket.destroy()
  })

  test('[0.7.8] the server refuses headers over 16 KiB with 431', async () => {
    const expected = refused(431, 'Request headers are too large.')
    expect(await ask({ x: 'v'.repeat(20_000) })).toEqual(expected)
    expect(
      await ask(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x-${i}`, 'value']))),
    ).toEqual(expected)
    expect(await send(post(`/${'v'.repeat(20_000)}`))).toEqual(expected)
  })

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '[0.1.1] an operation refuses the method %s with 405',
    async (method) => {
      const answer = await exchange(server.url, `${method} ${get} HTTP/1.1\r\nhost: test\r\n\r\n`)
      expect(checkedAnswer(answer)).toEqual(refused(405, 'Only POST is supported.'))
      expect(answer?.headers.allow).toBe('POST')
    },
  )

  test('[0.1.1] the server answers HEAD without a body: operations with 405, pages with 200', async () => {
    for (const [path, status] of [
      [get, 405],
      ['/healthz', 200],
    ]) {
      const answer = await exchange(server.url, `HEAD ${path} HTTP/1.1\r\nhost: test\r\n\r\n`, {
        noBody: true,
      })
      expect(checkedAnswer(answer)).toEqual({ status, body: undefined })
    }
  })

  test.each([
    ['/openapi.json', 'no-cache'],
    ['/.well-known/jwks.json', 'public, max-age=300'],
  ])('[0.1.9] %s can be cached', async (path, caching) => {
    const { headers } = await fetch(server.url + path)
    expect(headers.get('cache-control')).toBe(caching)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('[0.1.6] the answer to a CORS preflight has a request id', async () => {
    const preflight = 'origin: http://localhost:3000\r\naccess-control-request-method: POST\r\n'
    const answer = await exchange(server.url, `OPTIONS ${get} HTTP/1.1\r\nhost: test\r\n${preflight}\r\n`)
    expect(checkedAnswer(answer)).toEqual({ status: 204, body: undefined })
  })

  test('[0.1.8] the server answers pipelined requests in their order', async () => {
    const connection = openHttp(server.url)
    const requests = [
      post('/v2/organizations/add', tenant.headers, addBody('pipelined')),
      post('/v2/nothing', {}, '{}'),
      post('/v2/organizations/delete', tenant.headers, '{"data":{"organizationIds":["pipelined"]}}'),
      'GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n',
    ]
    connection.send(requests.join(''))
    const answers = []
    for (let i = 0; i < requests.length; i++) answers.push(checkedAnswer(await connection.answer()).body)
    expect(answers).toMatchObject([
      { result: { message: 'Organization(s) added successfully.' } },
      { error: { status: 'NOT_FOUND' } },
      {
        result: { message: 'Organization(s) deleted successfully.', data: { pipelined: { success: true } } },
      },
      { status: 'ok' },
    ])
    connection.socket.destroy()
  })

  test('[0.1.8] a write is answered before the malformed request behind it', async () => {
    const connection = openHttp(server.url)
    connection.send(`${post('/v2/organizations/add', tenant.headers, addBody('first'))}nonsense\r\n\r\n`)
    expect(checkedAnswer(await connection.answer())).toMatchObject({
      status: 200,
      body: { result: { status: 'success' } },
    })
    expect(checkedAnswer(await connection.answer())).toEqual(malformed)
    await connection.closed
    await tenant.client.organizations.delete({ organizationIds: ['first'] })
  })

  test('[0.7.1] the server refuses a body over 1 MiB with 413 before it parses the body, and keeps the connection', async () => {
    const limit = 1024 * 1024
    const tooLarge = refused(
      413,
      'Request body is too large. It must not have more than 1048576 bytes (LIMIT_BODY_BYTES).',
    )
    const fits = whole.padEnd(limit)
    expect(await ask({}, fits)).toEqual({ status: 200, body: retrieved })
    // The request is refused by its declared length. The body is not JSON, so parsing it would give another error.
    const declared = openHttp(server.url)
    declared.send(post(get, { ...tenant.headers, 'content-length': String(limit + 1) }))
    expect(checkedAnswer(await declared.answer())).toEqual(tooLarge)
    declared.send('['.repeat(limit + 1))
    declared.send(post(get, tenant.headers, whole))
    expect(checkedAnswer(await declared.answer())).toEqual({ status: 200, body: retrieved })
    declared.socket.destroy()

    const chunk = `10000\r\n${'['.repeat(65_536)}\r\n`
    const chunked = openHttp(server.url)
    chunked.send(post(get, { ...tenant.headers, 'transfer-encoding': 'chunked' }))
    for (let i = 0; i < 17; i++) chunked.send(chunk)
    expect(checkedAnswer(await chunked.answer())).toEqual(tooLarge)
    for (let i = 0; i < 40; i++) chunked.send(chunk)
    chunked.send(`0\r\n\r\n${post(get, tenant.headers, whole)}`)
    expect(checkedAnswer(await chunked.answer())).toEqual({ status: 200, body: retrieved })
    chunked.socket.destroy()
  })

  test('[0.2] the server refuses a request without credentials before its body arrives', async () => {
    const connection = openHttp(server.url)
    connection.send(post(get, { 'content-length': '100000' }))
    expect(checkedAnswer(await connection.answer())).toEqual(refused(400, 'Auth Token not found in headers.'))
    connection.socket.destroy()
  })

  test('[0.1] a client that disconnects while it sends a request changes nothing', async () => {
    const before = await tenant.client.organizations.get()
    for (const bytes of [
      '',
      'POST',
      post('/v2/organizations/add', { ...tenant.headers, 'content-length': '90' }, '{'),
    ]) {
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      await new Promise<void>((resolve) => socket.write(bytes || ' ', () => resolve()))
      socket.resetAndDestroy()
    }
    expect(await tenant.client.organizations.get()).toEqual(before)
  })
})

describe('[0.7.9] requests that take too long to arrive', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite', { env: { REQUEST_TIMEOUT_SECONDS: '1' } })
  })
  afterAll(() => server.stop())

  test('[0.7.9] after REQUEST_TIMEOUT_SECONDS slow headers and bodies get 408, and slow connections are closed, also after a 413', async () => {
    const tenant = await given.tenant(server)
    const tooSlow = refused(408, 'The request took too long to arrive.')
    const begin = (bytes: string) => {
      const connection = openHttp(server.url)
      connection.send(bytes)
      const timer = setInterval(() => connection.send('x'), 100)
      void connection.closed.then(() => clearInterval(timer))
      return connection
    }
    const began = Date.now()
    const headers = begin(`POST ${get} HTTP/1.1\r\nhost: test\r\nx: `)
    const body = begin(post(get, { ...tenant.headers, 'content-length': '1000' }, '{'))
    const discarded = begin(post(get, { ...tenant.headers, 'content-length': '9000000' }, '{'))
    expect(checkedAnswer(await headers.answer())).toEqual(tooSlow)
    expect(checkedAnswer(await body.answer())).toEqual(tooSlow)
    expect(checkedAnswer(await discarded.answer())).toEqual(
      refused(413, 'Request body is too large. It must not have more than 1048576 bytes (LIMIT_BODY_BYTES).'),
    )
    expect(await discarded.answer()).toBeUndefined()
    await Promise.all([headers.closed, body.closed, discarded.closed])
    expect(Date.now() - began).toBeGreaterThan(900)
    expect(await tenant.client.organizations.get()).toMatchObject({ data: [] })
  })
})

describe('[0.1] localhost', () => {
  test('[0.1] with HOST=localhost, both addresses of localhost give the same answers, also to malformed requests', async () => {
    const server = await startServer('sqlite', { env: { HOST: 'localhost' } })
    const { port } = new URL(server.url)
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address))
    for (const host of addresses.includes('::1') ? ['127.0.0.1', '[::1]'] : ['127.0.0.1']) {
      const url = `http://${host}:${port}`
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      expect(checkedAnswer(await exchange(url, 'nonsense\r\n\r\n'))).toEqual(malformed)
    }
    await server.stop()
    await expect(fetch(`http://[::1]:${port}/healthz`)).rejects.toThrow(TypeError)
  })
})
