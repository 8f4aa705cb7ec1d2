import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { pageMayConnect } from './origins.ts'

describe.each(stores)('the origins of pages on %s', (store) => {
  const server = useServer(store)

  test('[2.0.1] [2.0.2] a browser must connect from an allowed domain or a page of the server itself, and clients without an origin can always connect', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.add({ domains: ['example.com', '*.example.org'] })
    const may = (origin: string | undefined, host?: string, publicOrigins: string[] = []) =>
      pageMayConnect(server.database.read, apiKey, { origin, host }, publicOrigins)
    for (const origin of [
      undefined,
      'http://localhost:3000',
      'https://example.com',
      'https://www.example.com:8443',
      'https://a.b.example.org',
    ]) {
      expect(`${origin} ${await may(origin)}`).toBe(`${origin} true`)
    }
    for (const origin of [
      '',
      'null',
      'https://example.com.evil.test',
      'https://evilexample.com',
      'https://example.org',
      'file://',
      'https://collab.test',
    ]) {
      expect(`${origin} ${await may(origin)}`).toBe(`${origin} false`)
    }
    expect(await may('null', 'null')).toBe(false)
    // Pages of the server itself: the address is an IP address, or the operator configured the origin.
    expect(await may('http://192.0.2.7:4000', '192.0.2.7:4000')).toBe(true)
    expect(await may('http://[2001:db8::7]:4000', '[2001:db8::7]:4000')).toBe(true)
    expect(await may('http://192.0.2.7:4000', '192.0.2.7:5000')).toBe(false)
    expect(await may('https://collab.test', 'collab.test')).toBe(false)
    expect(await may('https://collab.test', 'localhost:4000', ['https://collab.test'])).toBe(true)
    expect(await may('http://collab.test', 'collab.test', ['https://collab.test'])).toBe(false)
  })

  test('[2.0.2] the pages of a server at localhost may use API keys that do not allow localhost', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.add({ domains: ['example.com'] })
    await client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    const may = (origin: string, host: string) =>
      pageMayConnect(server.database.read, apiKey, { origin, host }, [])
    expect(await may('http://localhost:4000', 'localhost:4000')).toBe(true)
    expect(await may('http://localhost:3000', 'localhost:4000')).toBe(false)
    expect(await may('http://localhost.evil.test', 'localhost.evil.test')).toBe(false)
  })

  test('[2.0.1] an API key without allowed domains accepts every origin', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    const page = { origin: 'https://anywhere.test', host: undefined }
    expect(await pageMayConnect(server.database.read, apiKey, page, [])).toBe(true)
  })
})
