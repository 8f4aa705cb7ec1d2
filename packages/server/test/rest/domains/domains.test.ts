import { describe, expect, test } from 'vitest'
import { normalizeAll } from '../../../src/operations/shared/allowed-domains.ts'
import { add as addDomains } from '../../../src/store/domains.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const local = ['localhost', '127.0.0.1']
const invalid = (message: string) => ({ error: { status: 'INVALID_ARGUMENT', message } })

describe.each(stores)('domains on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const found = await given.tenant(server)
    const call = (path: string, data: unknown, headers = {}) =>
      server.post(path, { data }, { ...found.headers, ...headers })
    return { ...found, call, allowed: async () => (await found.client.domains.get()).data.allowedDomains }
  }
  const get = (headers: Record<string, string>) => server.post('/v2/workspace/domains/get', '', headers)

  test.each(['v1', 'v2'])('[4.5] add returns the normalized domains under %s', async (version) => {
    const { call, allowed } = await tenant()
    const domains = ['https://www.Example.com:8080/path', '*.example.org', 'app.example.net.']
    const { status, body } = await call(`/${version}/workspace/domains/add`, { domains })
    expect(status).toBe(200)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Domain(s) added successfully to allowed domains.',
        data: { domainsAdded: ['example.com', '*.example.org', 'app.example.net'] },
      },
    })
    expect(await allowed()).toEqual([...local, 'example.com', '*.example.org', 'app.example.net'])
  })

  test.each([
    'undefined',
    'https://null/',
    '*.undefined',
    'NaN',
    '0000-00-00',
    'a@b',
    'ada@example.com',
    '2024-1.1-2',
  ])('[2.1.1] add refuses %j, and delete removes it if an earlier release stored it', async (entry) => {
    const { apiKey, call, allowed } = await tenant()
    const refusal = { status: 400, body: invalid(`Invalid domain: ${entry}`) }
    expect(await call('/v2/workspace/domains/add', { domains: ['a.dev', entry] })).toMatchObject(refusal)
    expect(await allowed()).toEqual(local)
    const [stored] = normalizeAll([entry])
    await server.database.write((db) => addDomains(db, apiKey, [stored!]))
    expect(await call('/v2/workspace/domains/delete', { domains: [entry] })).toMatchObject({ status: 200 })
    expect(await allowed()).toEqual(local)
  })

  test.each([
    'https://user@example.com',
    'undefined.example.com',
    'intranet',
    '123.com',
    '1.2.3.4',
    '::1',
    '2024-01-01.dev',
  ])('[2.1.1] add accepts %j', async (entry) => {
    const { client } = await tenant()
    expect((await client.domains.add({ domains: [entry] })).data.domainsAdded).toHaveLength(1)
  })

  test('[4.5] [0.4.1] add skips existing domains, lists them in the details of an error and adds the others', async () => {
    const { call, allowed, client } = await tenant()
    await client.domains.add({ domains: ['example.com'] })
    const { status, body } = await call('/v2/workspace/domains/add', {
      domains: ['a.dev', 'http://www.example.com', 'b.dev', 'localhost'],
    })
    expect(status).toBe(500)
    expect(body).toEqual({
      error: {
        status: 'INTERNAL',
        message: 'Domain(s) added successfully to allowed domains. Skipped existing domains.',
        details: { domainsAdded: ['a.dev', 'b.dev'], skippedDomains: ['example.com', 'localhost'] },
      },
    })
    expect(await allowed()).toEqual([...local, 'example.com', 'a.dev', 'b.dev'])
  })

  test('[4.5] add changes nothing when every domain already exists', async () => {
    const { client, allowed } = await tenant()
    await expect(client.domains.add({ domains: local })).rejects.toMatchObject({
      status: 'INTERNAL',
      details: { domainsAdded: [], skippedDomains: local },
    })
    expect(await allowed()).toEqual(local)
  })

  test('[2.1] add treats repeated domains in one call as one domain', async () => {
    const { client } = await tenant()
    const domains = ['example.com', 'www.example.com', 'https://EXAMPLE.com/']
    expect((await client.domains.add({ domains })).data).toEqual({ domainsAdded: ['example.com'] })
  })

  test('[I1.3] [0.4.1] a repeated Idempotency-Key gets the answer of a partly failed add again, and adds nothing', async () => {
    const { call, allowed } = await tenant()
    const headers = { 'idempotency-key': 'add-a.dev' }
    const add = () => call('/v2/workspace/domains/add', { domains: ['a.dev', 'localhost'] }, headers)
    const first = await add()
    expect(first).toMatchObject({
      status: 500,
      body: { error: { details: { domainsAdded: ['a.dev'], skippedDomains: ['localhost'] } } },
    })
    const second = await add()
    expect(second).toMatchObject({ status: 500, body: first.body })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await allowed()).toEqual([...local, 'a.dev'])
  })

  test('[2.1] concurrent calls that add the same domain add it once', async () => {
    const { client, allowed } = await tenant()
    const added = await Promise.allSettled(
      Array.from({ length: 5 }, () => client.domains.add({ domains: ['same.dev'] })),
    )
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of added) {
      if (one.status === 'rejected') {
        expect(one.reason).toMatchObject({ details: { domainsAdded: [], skippedDomains: ['same.dev'] } })
      }
    }
    expect(await allowed()).toEqual([...local, 'same.dev'])
  })

  test.each(['add', 'delete'] as const)(
    '[2.1] [2.3] %s refuses the whole call when one entry is invalid',
    async (verb) => {
      const { client, call, allowed } = await tenant()
      await client.domains.add({ domains: ['example.com'] })
      for (const entry of ['exa mple.com', 'a.*.com', '*', '', 'https://', 'a..b', '*.127.0.0.1']) {
        expect(
          await call(`/v2/workspace/domains/${verb}`, { domains: ['example.com', 'new.dev', entry] }),
        ).toMatchObject({
          status: 400,
          body: invalid(`Invalid domain: ${entry}`),
        })
      }
      expect(await allowed()).toEqual([...local, 'example.com'])
    },
  )

  test.each(['add', 'delete'])('[0.3] %s refuses a body without a list of 1 to 100 strings', async (verb) => {
    const { call } = await tenant()
    for (const [data, message] of [
      [{}, 'domains is required.'],
      [{ domains: [] }, 'domains must not be empty.'],
      [{ domains: 'example.com' }, 'domains must be an array.'],
      [{ domains: ['a.dev', 5] }, 'domains[1] must be a string.'],
      [
        { domains: Array.from({ length: 101 }, (_, index) => `d${index}.dev`) },
        'domains must have at most 100 items.',
      ],
      [{ domains: [`${'x'.repeat(2000)}.dev`] }, 'domains[0] must have at most 2000 characters.'],
    ] as const) {
      expect(await call(`/v1/workspace/domains/${verb}`, data)).toMatchObject({
        status: 400,
        body: invalid(message),
      })
    }
  })

  test('[2.1] add accepts a hundred domains in one call', async () => {
    const { client, allowed } = await tenant()
    const domains = Array.from({ length: 100 }, (_, index) => `d${index}.dev`)
    expect((await client.domains.add({ domains })).data.domainsAdded).toEqual(domains)
    expect(await allowed()).toEqual([...local, ...domains])
  })

  test.each(['v1', 'v2'])('[4.6] [0.1.2] get needs no body under %s', async (version) => {
    const { headers } = await tenant()
    const { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken } = headers
    const response = await fetch(`${server.url}/${version}/workspace/domains/get`, {
      method: 'POST',
      headers: { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken },
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      result: {
        status: 'success',
        message: 'Allowed domains retrieved successfully.',
        data: { allowedDomains: local },
      },
    })
    const path = `/${version}/workspace/domains/get`
    for (const body of ['', '{}', '{"data":{}}']) {
      expect(await server.post(path, body, headers)).toMatchObject({ status: 200 })
    }
    expect(await server.post(path, '{"data":[]}', headers)).toMatchObject({ status: 400 })
  })

  test('[4.6] get refuses an invalid API key', async () => {
    const { authToken } = await tenant()
    const headers = { 'x-svc-api-key': 'key_unknown', 'x-svc-auth-token': authToken }
    expect(await get(headers)).toMatchObject({
      status: 403,
      body: { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } },
    })
  })

  test('[5] a call requires the id and the valid token of the API key', async () => {
    const { headers } = await tenant()
    const { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken } = headers
    expect(await get({ 'x-svc-api-key': apiKey })).toMatchObject({
      status: 400,
      body: invalid('Auth Token not found in headers.'),
    })
    expect(await get({ 'x-svc-auth-token': authToken })).toMatchObject({
      status: 400,
      body: invalid('API key not found in headers.'),
    })
    expect(await get({ ...headers, 'x-svc-auth-token': 'wrong' })).toMatchObject({
      status: 401,
      body: { error: { status: 'UNAUTHENTICATED', message: 'Invalid auth token.' } },
    })
  })

  test.each(['v1', 'v2'])('[4.11] delete returns the normalized domains under %s', async (version) => {
    const { call, allowed, client } = await tenant()
    await client.domains.add({ domains: ['example.com', '*.example.com'] })
    const { status, body } = await call(`/${version}/workspace/domains/delete`, {
      domains: ['https://www.example.com/', 'EXAMPLE.com', 'localhost'],
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Domain(s) removed successfully from allowed domains.',
        data: { domainsRemoved: ['example.com', 'localhost'] },
      },
    })
    expect(await allowed()).toEqual(['127.0.0.1', '*.example.com'])
  })

  test('[4.11] [0.4.1] delete skips domains that are not on the list, names them in the details of an error and removes the others', async () => {
    const { call, allowed } = await tenant()
    const { status, body } = await call('/v1/workspace/domains/delete', {
      domains: ['www.a.dev', 'localhost', '*.localhost'],
    })
    expect(status).toBe(500)
    expect(body).toEqual({
      error: {
        status: 'INTERNAL',
        message: 'Domain(s) removed successfully from allowed domains. Skipped non-existing domains.',
        details: { domainsRemoved: ['localhost'], skippedDomains: ['a.dev', '*.localhost'] },
      },
    })
    expect(await allowed()).toEqual(['127.0.0.1'])
  })

  test('[2] [4.11] delete accepts and removes every domain that get returns', async () => {
    const { client, allowed } = await tenant()
    const domains = [
      'www.www.a.dev',
      'https://www.www.www.b.dev/',
      '*.www.c.dev',
      'www.www',
      '[2001:DB8::1]:80',
      'www.bücher.example',
    ]
    const { domainsAdded } = (await client.domains.add({ domains })).data
    expect(domainsAdded).toEqual([
      'a.dev',
      'b.dev',
      '*.www.c.dev',
      'www',
      '2001:db8::1',
      'xn--bcher-kva.example',
    ])
    const listed = await allowed()
    expect(listed).toEqual([...local, ...domainsAdded])
    expect((await client.domains.delete({ domains: listed })).data).toEqual({ domainsRemoved: listed })
    expect(await allowed()).toEqual([])
  })

  test('[2.3] a removed domain can be added again and is then listed last', async () => {
    const { client, allowed } = await tenant()
    await client.domains.add({ domains: ['a.dev'] })
    await client.domains.delete({ domains: ['localhost'] })
    await client.domains.add({ domains: ['localhost'] })
    expect(await allowed()).toEqual(['127.0.0.1', 'a.dev', 'localhost'])
  })

  test('[0.2.1] two keys of one workspace have separate domains and email configurations', async () => {
    const first = await tenant()
    const { data } = await first.client.apiKeys.create({ ownerEmail: 'two@example.com', type: 'testing' })
    const second = await given.keyOf(server, first, data.apiKey)
    await first.client.domains.add({ domains: ['a.dev'] })
    await first.client.emailConfig.update({ useEmailService: true })
    expect((await second.client.domains.get()).data.allowedDomains).toEqual(local)
    expect((await second.client.emailConfig.get()).data.useEmailService).toBe(false)
  })

  test('[0.2.1] keys of two workspaces have separate domains', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.client.domains.add({ domains: ['a.dev'] })
    await expect(other.client.domains.delete({ domains: ['a.dev', 'localhost'] })).rejects.toMatchObject({
      details: { domainsRemoved: ['localhost'], skippedDomains: ['a.dev'] },
    })
    expect(await one.allowed()).toEqual([...local, 'a.dev'])
    expect(await other.allowed()).toEqual(['127.0.0.1'])
  })
})
