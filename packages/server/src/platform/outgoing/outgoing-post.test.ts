import { once } from 'node:events'
import { createServer, request, type RequestOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { createOutgoingPost, type OutgoingPostDeps } from './outgoing-post.ts'

/** A server on the loopback address, which every request of these tests reaches, whatever address it names. */
async function listening(answer: (response: ServerResponse, host: string) => void) {
  const server = createServer((incoming, response) => answer(response, incoming.headers.host ?? ''))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

/** Sends requests to the loopback address, and records the addresses to which they would have been sent. */
function scene(port: number, deps: Partial<OutgoingPostDeps> = {}) {
  const clock = new SteppedClock()
  const connectedTo: string[][] = []
  const send = (url: URL, options: RequestOptions) => {
    options.lookup?.(url.hostname, { all: true }, (_error, found) =>
      connectedTo.push((found as { address: string }[]).map(({ address }) => address)),
    )
    const { lookup: _lookup, ...others } = options
    return request(`http://127.0.0.1:${port}`, {
      ...others,
      headers: { ...(options.headers as Record<string, string>), host: url.host },
    })
  }
  const post = createOutgoingPost({ clock, privateAddresses: 'refused', send, ...deps })
  const stop = new AbortController()
  const call = (url: string) =>
    post({
      url: new URL(url),
      headers: {},
      body: '{}',
      timeoutMs: 10_000,
      maxAnswerBytes: 100,
      signal: stop.signal,
    })
  return { clock, connectedTo, call, stop }
}

const ok = (response: ServerResponse) => void response.end('fine')

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://169.254.169.254/latest/meta-data',
  'https://10.0.0.1:8443/',
])('[N1] a URL with a private address is refused before a connection is made: %s', async (url) => {
  const { call, connectedTo } = scene(await listening(ok))
  await expect(call(url)).rejects.toThrow('The host has no public address (OUTGOING_PRIVATE_ADDRESSES).')
  expect(connectedTo).toEqual([])
})

test('[N1] a name that resolves to private addresses only is refused', async () => {
  const resolve = async () => ['127.0.0.1', '::1', '10.0.0.1']
  const { call, connectedTo } = scene(await listening(ok), { resolve })
  await expect(call('https://example.com/')).rejects.toThrow('The host has no public address')
  expect(connectedTo).toEqual([])
})

test('[N1.1] the server connects to the addresses that it checked, with the name of the URL, and resolves the name once', async () => {
  const names: string[] = []
  const resolve = async (hostname: string) => {
    names.push(hostname)
    return names.length === 1 ? ['10.0.0.1', '8.8.8.8', '2606:4700::1111'] : ['127.0.0.1']
  }
  const hosts: string[] = []
  const port = await listening((response, host) => {
    hosts.push(host)
    response.end('fine')
  })
  const { call, connectedTo } = scene(port, { resolve })
  expect(await call('http://example.com:8080/path')).toEqual({ status: 200, body: Buffer.from('fine') })
  expect(names).toEqual(['example.com'])
  expect(connectedTo).toEqual([['8.8.8.8', '2606:4700::1111']])
  expect(hosts).toEqual(['example.com:8080'])
})

test('[N1] private addresses can be allowed', async () => {
  const port = await listening(ok)
  const { call } = scene(port, { privateAddresses: 'allowed', send: undefined })
  expect(await call(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 })
  expect(await call(`http://localhost:${port}/`)).toMatchObject({ status: 200 })
})

const resolve = async () => ['8.8.8.8']

test('[N1.1] a redirect is an answer and is not followed', async () => {
  let requests = 0
  const port = await listening((response) => {
    requests++
    response.writeHead(307, { location: `http://127.0.0.1:${port}/other` }).end()
  })
  const { call } = scene(port, { resolve })
  expect(await call('http://example.com/')).toMatchObject({ status: 307 })
  expect(requests).toBe(1)
})

test('[N1.2] an answer that is too large is refused, whatever its length says', async () => {
  const port = await listening((response) => {
    response.write('x'.repeat(60))
    response.end('x'.repeat(60))
  })
  const { call } = scene(port, { resolve })
  await expect(call('http://example.com/')).rejects.toThrow('The answer has more than 100 bytes.')
})

test.each(['name', 'answer', 'rest of the answer'])(
  '[N1.2] a request ends after its timeout, or when it is stopped, while the %s is missing',
  async (missing) => {
    let arrived = () => {}
    const arrival = new Promise<void>((onArrived) => (arrived = onArrived))
    const port = await listening((response) => {
      if (missing === 'rest of the answer') response.write('x')
      arrived()
    })
    const never = () => {
      arrived()
      return new Promise<string[]>(() => {})
    }
    const { call, clock, stop } = scene(port, { resolve: missing === 'name' ? never : resolve })
    const late = call('http://example.com/')
    const stopped = call('http://example.com/')
    await arrival
    clock.step(9_999)
    stop.abort(new Error('stopped'))
    await expect(stopped).rejects.toThrow()
    await expect(late).rejects.toThrow()
    expect(clock.pending).toBe(0)

    const next = scene(port, { resolve: missing === 'name' ? never : resolve })
    const timedOut = next.call('http://example.com/')
    next.clock.step(10_000)
    await expect(timedOut).rejects.toThrow('No answer within 10000 ms.')
  },
)
