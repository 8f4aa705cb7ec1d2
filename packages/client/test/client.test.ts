import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { ApiError, type ClientOptions, createClient } from '../src/index.ts'

interface Received {
  path: string | undefined
  headers: IncomingMessage['headers']
  body: unknown
}
type Behaviour = (response: ServerResponse) => void

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanups.splice(0)) cleanUp()
})

/** Starts a server that answers each request with the next behaviour, repeats the last one, and records the requests. */
async function serve(...behaviours: Behaviour[]) {
  const received: Received[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ path: request.url, headers: request.headers, body: JSON.parse(await text(request)) })
    behaviours[Math.min(received.length, behaviours.length) - 1]?.(response)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url,
    received,
    client: (options: Partial<ClientOptions> = {}) => createClient({ url, ...options }),
  }
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour => {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
const success = (data: unknown, more: object = {}) =>
  json(200, { result: { status: 'success', message: 'Done.', data, ...more } })
const failure = (httpStatus: number, status: string, headers?: Record<string, string>) =>
  json(httpStatus, { error: { status, message: `It is ${status}.` } }, headers)
const dropConnection: Behaviour = (response) => response.destroy()
const neverAnswer: Behaviour = () => {}
const truncateAnswer: Behaviour = (response) => {
  response.writeHead(200, { 'content-length': '50' }).write('{', () => response.destroy())
}
const badGateway: Behaviour = (response) => response.writeHead(502).end('Bad gateway')

const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('[K1] requests', () => {
  test('[K1] the client sends the input as data, to the newest version by default', async () => {
    const { client, received } = await serve(success([]))
    const { organizations, auth } = client({ apiKey: 'key', authToken: 'token' })
    await organizations.get({ pageSize: 5 })
    await organizations.get({}, { version: 'v1' })
    await organizations.get()
    await auth.getToken({ apiKey: 'key', authToken: 'token', userId: 'u' } as never)
    expect(received.map(({ path, body }) => [path, body])).toEqual([
      ['/v2/organizations/get', { data: { pageSize: 5 } }],
      ['/v1/organizations/get', { data: {} }],
      ['/v2/organizations/get', { data: {} }],
      ['/v1/auth/token/get', { data: { apiKey: 'key', authToken: 'token', userId: 'u' } }],
    ])
  })

  test('[K1] the client sends only the credentials that the operation needs', async () => {
    const { client, received } = await serve(success({}))
    const all = { apiKey: 'key', authToken: 'token', workspaceId: 'ws', workspaceAuthToken: 'ws-token' }
    await client(all).organizations.get()
    await client(all).workspace.get()
    await client(all).workspace.create({ ownerEmail: 'a@example.com' })
    await client({ apiKey: 'key' }).organizations.get()
    const sent = received.map(({ headers }) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-svc-'))),
    )
    expect(sent).toEqual([
      { 'x-svc-api-key': 'key', 'x-svc-auth-token': 'token' },
      { 'x-svc-workspace-id': 'ws', 'x-svc-auth-token': 'ws-token' },
      {},
      { 'x-svc-api-key': 'key' },
    ])
    expect(received[0]?.headers['content-type']).toBe('application/json')
  })

  test('[K1] the client accepts a server URL with a path and with trailing slashes', async () => {
    const { url, received } = await serve(success([]))
    await createClient({ url: `${url}/` }).organizations.get()
    await createClient({ url: `${url}/behind/a/proxy//` }).organizations.get()
    expect(received.map(({ path }) => path)).toEqual([
      '/v2/organizations/get',
      '/behind/a/proxy/v2/organizations/get',
    ])
  })

  test('[K1] the client sends a new or the given idempotency key with each write, and none with reads', async () => {
    const { client, received } = await serve(success({}))
    const { organizations } = client()
    await organizations.add({ organizations: [{ organizationId: 'a' }] })
    await organizations.add({ organizations: [{ organizationId: 'a' }] })
    await organizations.add({ organizations: [{ organizationId: 'a' }] }, { idempotencyKey: 'mine' })
    await organizations.get()
    const [first, second, third, fourth] = received.map(({ headers }) => headers['idempotency-key'])
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(second).not.toBe(first)
    expect([third, fourth]).toEqual(['mine', undefined])
  })
})

describe('[K1] answers', () => {
  test('[K1] the client returns the message, the data and the page token of a success', async () => {
    const { client } = await serve(success(['x'], { nextPageToken: 'next' }))
    expect(await client().organizations.get()).toEqual({
      message: 'Done.',
      data: ['x'],
      nextPageToken: 'next',
    })
  })

  test('[K1] the client throws an ApiError with all fields of the error', async () => {
    const details = { domainsAdded: ['a'], skippedDomains: ['b'] }
    const { client } = await serve(json(500, { error: { status: 'INTERNAL', message: 'In part.', details } }))
    const error = await errorOf(client().domains.add({ domains: ['a'] }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      name: 'ApiError',
      status: 'INTERNAL',
      message: 'In part.',
      httpStatus: 500,
      details,
    })
    const precise = await serve(failure(413, 'INVALID_ARGUMENT'))
    expect(await errorOf(precise.client().organizations.get())).toMatchObject({
      httpStatus: 413,
      details: undefined,
    })
  })

  test.each([
    [502, '<html>Bad gateway</html>', 'UNAVAILABLE'],
    [503, '', 'UNAVAILABLE'],
    [504, '{"message":"upstream"}', 'UNAVAILABLE'],
    [500, 'Internal Server Error', 'INTERNAL'],
    [200, '<html>Log in to this network</html>', 'INTERNAL'],
    [404, 'null', 'INTERNAL'],
    [200, '[]', 'INTERNAL'],
    [200, '{"result":"yes"}', 'INTERNAL'],
    [400, '{"error":"no"}', 'INTERNAL'],
  ])('[K1.1] HTTP %i with the body %s is not an envelope and throws %s', async (httpStatus, body, status) => {
    const { client, url } = await serve((response) => response.writeHead(httpStatus).end(body))
    const error = await errorOf(client({ retries: 0 }).organizations.get())
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      status,
      httpStatus,
      message: `HTTP ${httpStatus} from ${url} is not an answer of Plenum. Check the url, and proxies in between.`,
    })
  })

  test('[K1] the client does not follow a redirect, which could send the credentials to another server', async () => {
    const elsewhere = await serve(success([]))
    const { client } = await serve((response) =>
      response.writeHead(307, { location: `${elsewhere.url}/x` }).end(),
    )
    expect(await errorOf(client({ retries: 0, authToken: 'token' }).organizations.get())).toMatchObject({
      status: 'UNAVAILABLE',
      message: expect.stringMatching(/: unexpected redirect$/),
      cause: expect.any(TypeError),
    })
    expect(elsewhere.received).toEqual([])
  })
})

describe('[K1.1] calls without an answer', () => {
  test.each(['127.0.0.1', 'localhost'])(
    '[K1.1] the error of a call to %s without an answer names the address and the operation',
    async (host) => {
      const { url } = await serve(success([]))
      for (const cleanUp of cleanups.splice(0)) cleanUp()
      const address = url.replace('127.0.0.1', host)
      const client = createClient({ url: `${address}/`, retries: 0, authToken: 'secret' })
      const error = await errorOf(client.organizations.get())
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ status: 'UNAVAILABLE', cause: expect.any(TypeError) })
      expect((error as ApiError).message).toMatch(
        new RegExp(`^No answer from ${address} \\(organizations\\.get\\): connect ECONNREFUSED `),
      )
    },
  )

  test('[K1.1] the error of a call without an answer contains what a custom fetch throws', async () => {
    const thrown = [new TypeError('Failed to fetch'), 'a string', undefined]
    const fetch = () => Promise.reject(thrown.shift())
    const client = createClient({ url: 'http://plenum.test', retries: 0, fetch })
    const messages = []
    for (let call = 0; call < 3; call++)
      messages.push(((await errorOf(client.organizations.get())) as ApiError).message)
    expect(messages).toEqual([
      'No answer from http://plenum.test (organizations.get): Failed to fetch',
      'No answer from http://plenum.test (organizations.get): a string',
      'No answer from http://plenum.test (organizations.get): undefined',
    ])
  })
})

describe('[K1] retries', () => {
  test.each([
    ['a broken connection', dropConnection],
    ['a truncated answer', truncateAnswer],
    ['UNAVAILABLE', failure(503, 'UNAVAILABLE')],
    ['ABORTED', failure(409, 'ABORTED')],
    ['a bad gateway', badGateway],
  ])(
    '[K1] the client retries reads and writes after %s, writes with the same idempotency key',
    async (_what, behaviour) => {
      const { client, received } = await serve(behaviour, behaviour, success({}))
      await client().organizations.add({ organizations: [{ organizationId: 'a' }] })
      expect(received).toHaveLength(3)
      expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
      expect(new Set(received.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      const read = await serve(behaviour, success([]))
      await read.client().organizations.get()
      expect(read.received).toHaveLength(2)
    },
  )

  test('[K1] the client stops after the allowed retries and throws the last failure', async () => {
    const { client, received } = await serve(failure(503, 'UNAVAILABLE'))
    expect(await errorOf(client({ retries: 1 }).organizations.get())).toMatchObject({ status: 'UNAVAILABLE' })
    expect(received).toHaveLength(2)
    const broken = await serve(dropConnection)
    expect(await errorOf(broken.client({ retries: 0 }).organizations.get())).toMatchObject({
      status: 'UNAVAILABLE',
      cause: expect.any(TypeError),
    })
    expect(broken.received).toHaveLength(1)
  })

  test.each([
    [400, 'INVALID_ARGUMENT'],
    [400, 'FAILED_PRECONDITION'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
    [409, 'ALREADY_EXISTS'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [501, 'UNIMPLEMENTED'],
    [504, 'DEADLINE_EXCEEDED'],
  ])('[K1] the client does not retry after %i %s', async (httpStatus, status) => {
    const { client, received } = await serve(failure(httpStatus, status, { 'retry-after': '1' }), success({}))
    const call = client().organizations.add({ organizations: [{ organizationId: 'a' }] })
    expect(await errorOf(call)).toMatchObject({ status, httpStatus, retryAfterSeconds: 1 })
    expect(received).toHaveLength(1)
  })

  test('[K1] the client waits for a retry-after in seconds before a retry, throws if the wait is too long, and ignores a date', async () => {
    const { client, received } = await serve(failure(503, 'UNAVAILABLE', { 'retry-after': '1' }), success([]))
    const startedAt = Date.now()
    await client().organizations.get()
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1000)
    expect(received).toHaveLength(2)
    const slow = await serve(failure(503, 'UNAVAILABLE', { 'retry-after': '3600' }))
    expect(await errorOf(slow.client().organizations.get())).toMatchObject({ retryAfterSeconds: 3600 })
    expect(slow.received).toHaveLength(1)
    const dated = await serve(
      failure(503, 'UNAVAILABLE', { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' }),
      success([]),
    )
    await dated.client().organizations.get()
    expect(dated.received).toHaveLength(2)
  })

  test('[K1] the client retries after a timeout', async () => {
    const { client, url } = await serve(neverAnswer)
    let attempts = 0
    const counting: typeof fetch = (input, init) => {
      attempts++
      return fetch(input, init)
    }
    const impatient = client({ timeoutMs: 50, retries: 1, fetch: counting })
    expect(await errorOf(impatient.organizations.get())).toMatchObject({
      status: 'UNAVAILABLE',
      message: `No answer from ${url} (organizations.get): none within 50 ms`,
      cause: { name: 'TimeoutError' },
    })
    expect(attempts).toBe(2)

    // The second answer needs no network, so it is in time on any machine.
    const answer = { result: { status: 'success', message: 'Done.', data: [] } }
    const answering: typeof fetch = (input, init) =>
      attempts++ === 0 ? fetch(input, init) : Promise.resolve(Response.json(answer))
    attempts = 0
    await client({ timeoutMs: 50, fetch: answering }).organizations.get()
    expect(attempts).toBe(2)
  })

  test('[K1] the client does not retry after the caller aborts during an attempt or between two, and sends nothing after an earlier abort', async () => {
    const { client, received } = await serve(neverAnswer)
    const during = new AbortController()
    const first = errorOf(client().organizations.get({}, { signal: during.signal }))
    await expect.poll(() => received.length).toBe(1)
    during.abort(new Error('enough'))
    expect(await first).toMatchObject({ message: 'enough' })

    let attempts = 0
    const unavailable = { error: { status: 'UNAVAILABLE', message: 'Later.' } }
    const fetch = async () => {
      attempts++
      return Response.json(unavailable, { status: 503, headers: { 'retry-after': '20' } })
    }
    const between = new AbortController()
    const second = errorOf(client({ fetch }).organizations.get({}, { signal: between.signal }))
    // This fetch needs no network, so the client waits for its retry after one turn of the event loop.
    await new Promise((done) => setImmediate(done))
    between.abort(new Error('enough'))
    expect(await second).toMatchObject({ message: 'enough' })
    expect(attempts).toBe(1)

    const third = errorOf(client().organizations.get({}, { signal: AbortSignal.abort() }))
    expect(await third).toMatchObject({ name: 'AbortError' })
    expect(received).toHaveLength(1)
  })
})
