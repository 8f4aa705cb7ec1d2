import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { openHttp } from '../../support/clients/raw-http.ts'

const get = '/v2/organizations/get'
const denied = {
  error: {
    status: 'PERMISSION_DENIED',
    message:
      'This origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.',
  },
}

describe.each(stores)('allowed domains for browsers on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const found = await given.tenant(server)
    return {
      ...found,
      from: (origin: string) => server.post(get, { data: {} }, { ...found.headers, origin }),
    }
  }

  test('[2.0.1] the server accepts calls from a page of an allowed domain, on any port and with or without TLS', async () => {
    const { client, from } = await tenant()
    await client.domains.add({ domains: ['example.com'] })
    for (const origin of [
      'http://localhost',
      'http://localhost:3000',
      'https://127.0.0.1:8443',
      'https://example.com',
      'https://www.example.com',
      'https://EXAMPLE.com:8080',
    ]) {
      const { status, headers } = await from(origin)
      expect(`${origin} ${status}`).toBe(`${origin} 200`)
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-expose-headers')).toContain('retry-after')
      expect(headers.get('vary')).toBe('origin')
    }
  })

  test('[2.0.1] the server refuses calls from a page of any other domain', async () => {
    const { client, from } = await tenant()
    await client.domains.add({ domains: ['example.com'] })
    for (const origin of [
      'https://example.org',
      'https://sub.example.com',
      'https://example.com.evil.test',
      'https://evilexample.com',
      'https://localhost.evil.test',
      'file://',
      'null',
    ]) {
      expect(await from(origin)).toMatchObject({ status: 403, body: denied })
    }
  })

  test('[2.0.3] a page of a refused origin may read the error', async () => {
    const { from } = await tenant()
    const { headers } = await from('https://evil.test')
    expect(headers.get('access-control-allow-origin')).toBe('https://evil.test')
  })

  test('[2.0.1] the entry *.example.com allows every subdomain of example.com, but not example.com itself', async () => {
    const { client, from } = await tenant()
    await client.domains.add({ domains: ['*.example.com'] })
    expect(await from('https://a.example.com')).toMatchObject({ status: 200 })
    expect(await from('https://a.b.c.example.com:444')).toMatchObject({ status: 200 })
    expect(await from('https://example.com')).toMatchObject({ status: 403, body: denied })
    expect(await from('https://aexample.com')).toMatchObject({ status: 403, body: denied })
  })

  test('[2.0.1] a change of the allowed domains applies to the next call', async () => {
    const { client, from } = await tenant()
    expect(await from('https://a.dev')).toMatchObject({ status: 403, body: denied })
    await client.domains.add({ domains: ['a.dev'] })
    expect(await from('https://a.dev')).toMatchObject({ status: 200 })
    await client.domains.delete({ domains: ['a.dev'] })
    expect(await from('https://a.dev')).toMatchObject({ status: 403, body: denied })
  })

  test('[2.0.1] an empty list of domains allows every origin', async () => {
    const { client, from } = await tenant()
    await client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    expect(await from('https://anywhere.test')).toMatchObject({ status: 200 })
  })

  test('[2.0.2] the server refuses a page of a foreign domain that resolves to the server, and accepts a page at the IP address in the header Host', async () => {
    const { headers } = await tenant()
    const statusOf = async (host: string, origin: string) => {
      const connection = openHttp(server.url)
      const sent = Object.entries({ ...headers, host, origin, connection: 'close' })
      const lines = sent.map(([name, value]) => `${name}: ${value}`).join('\r\n')
      connection.send(
        `POST ${get} HTTP/1.1\r\n${lines}\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"data":{}}`,
      )
      return (await connection.answer())?.status
    }
    expect(await statusOf('rebound.test:4000', 'http://rebound.test:4000')).toBe(403)
    expect(await statusOf('192.0.2.7:4000', 'http://192.0.2.7:4000')).toBe(200)
  })

  test('[2.0.1] [0.2.1] the domains of one API key do not apply to another', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.client.domains.add({ domains: ['a.dev'] })
    expect(await other.from('https://a.dev')).toMatchObject({ status: 403, body: denied })
  })

  test('[2.0.1] a write refused for its origin changes nothing', async () => {
    const { client, headers } = await tenant()
    const data = { organizations: [{ organizationId: 'o1' }] }
    const sent = { ...headers, origin: 'https://evil.test' }
    expect(await server.post('/v2/organizations/add', { data }, sent)).toMatchObject({
      status: 403,
      body: denied,
    })
    expect((await client.organizations.get()).data).toEqual([])
  })

  test('[2.0.1] the server accepts calls without an Origin header', async () => {
    const { client, headers } = await tenant()
    await client.organizations.get()
    const answer = await server.post(get, { data: {} }, headers)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('[0.2] [2.0.1] the server checks the credentials before the origin', async () => {
    const { headers } = await tenant()
    const sent = { ...headers, 'x-svc-auth-token': 'wrong', origin: 'https://evil.test' }
    expect(await server.post(get, { data: {} }, sent)).toMatchObject({ status: 401 })
  })

  test('[2.0.3] the server answers a preflight from every page, because it checks the call itself', async () => {
    const response = await fetch(`${server.url}${get}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com:8443',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-svc-api-key,x-svc-auth-token,idempotency-key',
      },
    })
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com:8443')
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining(['content-type', 'x-svc-api-key', 'x-svc-auth-token', 'idempotency-key']),
    )
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('[0.1.1] the server answers OPTIONS without preflight headers with 405', async () => {
    const response = await fetch(`${server.url}${get}`, { method: 'OPTIONS' })
    expect(response.status).toBe(405)
  })
})
