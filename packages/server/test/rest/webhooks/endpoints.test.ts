import type { EventName } from '@plenum/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'

const url = 'https://example.com/hook'
const enable = 'via POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }.'
const unknown = { httpStatus: 404, status: 'NOT_FOUND', message: 'Advanced webhook provider request failed.' }

describe.each(stores)('webhook endpoints on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const tenant = async () => {
    const found = await given.tenant(server)
    await found.client.advancedWebhookConfig.update({ isEnabled: true })
    const { webhookEndpoints } = found.client
    return {
      ...found,
      webhookEndpoints,
      add: async (input: Partial<Parameters<typeof webhookEndpoints.create>[0]> = {}) =>
        (await webhookEndpoints.create({ url, ...input })).data,
      list: async () => (await webhookEndpoints.get({})).data.endpoints,
      secret: async (endpointId: string) => (await webhookEndpoints.getSecret({ endpointId })).data.secret,
    }
  }

  test('[24.14] create answers the endpoint with null for what is not set, and without its secret', async () => {
    const { webhookEndpoints, list, add } = await tenant()
    const { data, message } = await webhookEndpoints.create({ url: ` ${url} ` })
    expect(message).toBe('Advanced webhook endpoint created successfully.')
    expect(data).toEqual({
      id: expect.stringMatching(/^ep_[0-9a-z]{20}$/),
      url,
      description: null,
      filterTypes: null,
      channels: null,
      disabled: false,
      rateLimit: null,
      uid: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: data.createdAt,
    })
    const full = await add({
      description: 'Primary',
      filterTypes: ['comment.add', 'comment.newlyAdded', 'comment_annotation.add'],
      channels: ['org 1', 'org 2', 'org 1'],
      disabled: true,
      rateLimit: 5,
      uid: 'mine',
      metadata: { team: 'a' },
    })
    expect(full).toMatchObject({
      description: 'Primary',
      channels: ['org 1', 'org 2'],
      disabled: true,
      rateLimit: 5,
      uid: 'mine',
    })
    expect(full).not.toHaveProperty('metadata')
    expect(await list()).toEqual([data, full])
  })

  test('[24.14.1] filterTypes accepts both spellings of events and stores the dotted ones, and metadata and channels are limited', async () => {
    const { add, webhookEndpoints } = await tenant()
    const { filterTypes } = await add({
      filterTypes: ['comment.newlyAdded', 'comment_annotation.add', 'huddle.join'],
    })
    expect(filterTypes).toEqual(['comment_annotation.add', 'huddle.join'])
    await expect(add({ filterTypes: ['comment.explode' as EventName] })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining('filterTypes[0] must be one of: comment_annotation.add, '),
    })
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 'x'.repeat(1000)]))
    const channels = Array.from({ length: 65 }, (_, index) => `${index}`.padEnd(256, 'x'))
    for (const large of [{ metadata }, { channels }]) {
      await expect(webhookEndpoints.create({ url, ...large })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining('At most 16384 are allowed.'),
      })
    }
  })

  test('[24.14.2] a refused URL is answered with the reason', async () => {
    const { add, client } = await tenant()
    const reasons = {
      'http://127.0.0.1/': /not public.*WEBHOOK_ALLOW_CIDR/,
      'http://localhost:8080/hook': /localhost is not a public address.*127\.0\.0\.1/,
      'https://api.localhost./': /localhost/,
      'example.com': /begin with http/,
    }
    for (const [url, reason] of Object.entries(reasons)) {
      const refused = { status: 'INVALID_ARGUMENT', details: { reason: expect.stringMatching(reason) } }
      await expect(add({ url })).rejects.toMatchObject(refused)
      const webhookServiceConfig = { rawNotificationUrl: url }
      await expect(client.webhookConfig.update({ webhookServiceConfig })).rejects.toMatchObject(refused)
    }
  })

  test.each<[input: object, message: string]>([
    [{ url: 'example.com' }, 'url must be a valid http(s) URL.'],
    [{ url: 'ftp://example.com' }, 'url must be a valid http(s) URL.'],
    [{ url: 'http://127.0.0.1/' }, 'url must be a valid http(s) URL.'],
    [{ url: 'https://u:p@example.com' }, 'url must be a valid http(s) URL.'],
    [{ filterTypes: [] }, 'filterTypes must not be empty.'],
    [{ channels: [] }, 'channels must not be empty.'],
    [{ rateLimit: 0 }, 'rateLimit must be an integer between 1 and 10000.'],
    [{ metadata: { a: 1 } }, 'metadata.a must be a string.'],
  ])('[24.14] [24.16] create and update refuse %j', async (input, message) => {
    const { webhookEndpoints, add, list } = await tenant()
    const { id } = await add()
    const before = await list()
    const refused = { status: 'INVALID_ARGUMENT', message }
    await expect(add(input)).rejects.toMatchObject(refused)
    await expect(webhookEndpoints.update({ endpointId: id, ...input })).rejects.toMatchObject(refused)
    expect(await list()).toEqual(before)
  })

  test('[24.14] a uid is unique under its API key, also when calls are concurrent', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => one.add({ uid: 'mine' })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      expect(result.reason).toMatchObject({
        status: 'ALREADY_EXISTS',
        message: 'An endpoint with this uid already exists.',
      })
    }
    expect(await other.add({ uid: 'mine' })).toMatchObject({ uid: 'mine' })
  })

  test('[24.14] an API key has at most 50 endpoints, also when calls are concurrent', async () => {
    const { add, webhookEndpoints, list } = await tenant()
    const results = await Promise.allSettled(Array.from({ length: 55 }, () => add()))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(5)
    expect(refused[0]?.reason).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      message: 'The API key has reached its maximum of 50 webhook endpoints.',
    })
    const [first] = await list()
    await webhookEndpoints.delete({ endpointId: first!.id })
    await add()
  })

  test('[24.15] endpoints are listed in pages, and an iterator of another API key is refused', async () => {
    const { add, webhookEndpoints, list } = await tenant()
    for (let i = 0; i < 5; i++) await add({ uid: `${i}` })
    const read: unknown[] = []
    let iterator: string | undefined
    do {
      const { data } = await webhookEndpoints.get({ limit: 2, ...(iterator !== undefined && { iterator }) })
      read.push(...data.endpoints)
      expect(data.prevIterator).toBeNull()
      expect(data.done).toBe(data.iterator === null)
      iterator = data.iterator ?? undefined
      if (read.length === 2) {
        const other = await tenant()
        await expect(other.webhookEndpoints.get({ iterator: iterator! })).rejects.toMatchObject({
          status: 'INVALID_ARGUMENT',
          message: 'Invalid page token.',
        })
      }
    } while (iterator !== undefined)
    expect(read).toHaveLength(5)
    expect(read).toEqual(await list())
  })

  test('[24.16] update changes the fields that are sent, null removes a value, and uid stays', async () => {
    const { add, webhookEndpoints, list } = await tenant()
    const created = await add({
      uid: 'mine',
      description: 'A',
      channels: ['o'],
      filterTypes: ['comment.add'],
      rateLimit: 1,
    })
    const endpointId = created.id
    server.clock.offsetMs += 1000
    const { data, message } = await webhookEndpoints.update({ endpointId, url: 'http://example.com/2' })
    expect(message).toBe('Advanced webhook endpoint updated successfully.')
    expect(data).toEqual({ ...created, url: 'http://example.com/2', updatedAt: data.updatedAt })
    expect(data.updatedAt > created.updatedAt).toBe(true)
    const none = { description: null, channels: null, filterTypes: null, rateLimit: null }
    const { data: cleared } = await webhookEndpoints.update({ endpointId, ...none, metadata: null })
    expect(cleared).toEqual({ ...data, ...none, updatedAt: cleared.updatedAt })
    expect(await list()).toEqual([cleared])
    const message2 = 'At least one endpoint field besides endpointId must be provided.'
    for (const nothing of [{}, { uid: 'other' }]) {
      await expect(webhookEndpoints.update({ endpointId, ...nothing })).rejects.toMatchObject({
        message: message2,
      })
    }
  })

  test('[24.17] delete removes the endpoint with its secret, and an unknown endpoint is NOT_FOUND', async () => {
    const { add, list, webhookEndpoints } = await tenant()
    const { id: endpointId } = await add()
    const { data, message } = await webhookEndpoints.delete({ endpointId })
    expect(message).toBe('Advanced webhook endpoint deleted successfully.')
    expect(data).toEqual({ endpointId, deleted: true })
    expect(await list()).toEqual([])
    const foreign = await (await tenant()).add()
    for (const id of [endpointId, foreign.id]) {
      await expect(webhookEndpoints.delete({ endpointId: id })).rejects.toMatchObject(unknown)
      await expect(webhookEndpoints.getSecret({ endpointId: id })).rejects.toMatchObject(unknown)
      await expect(webhookEndpoints.rotateSecret({ endpointId: id })).rejects.toMatchObject(unknown)
      await expect(webhookEndpoints.update({ endpointId: id, disabled: true })).rejects.toMatchObject(unknown)
    }
  })

  test('[24.18] [24.14] each endpoint has a secret of its own, which is stored sealed and never logged', async () => {
    const { add, secret, apiKey } = await tenant()
    const [one, two] = [await add(), await add()]
    const secrets = [await secret(one.id), await secret(two.id)]
    expect(new Set(secrets).size).toBe(2)
    for (const text of secrets) {
      expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(server.logged.join()).not.toContain(text)
    }
    const row = await server.database.read
      .selectFrom('webhook_endpoints')
      .select('secret')
      .where('api_key', '=', apiKey)
      .where('endpoint_id', '=', one.id)
      .executeTakeFirstOrThrow()
    expect(Buffer.from(row.secret).includes(secrets[0]!)).toBe(false)
    const context = `webhook_endpoints/${apiKey}/${one.id}`
    expect(server.secrets.unseal(row.secret, context).toString()).toBe(secrets[0])
  })

  test('[24.13.1] the operations on endpoints are refused while advanced webhooks were never enabled or are off', async () => {
    const { client } = await given.tenant(server)
    const calls = () => [
      client.webhookEndpoints.create({ url }),
      client.webhookEndpoints.get({}),
      client.webhookEndpoints.update({ endpointId: 'e', disabled: true }),
      client.webhookEndpoints.delete({ endpointId: 'e' }),
      client.webhookEndpoints.getSecret({ endpointId: 'e' }),
      client.webhookEndpoints.rotateSecret({ endpointId: 'e' }),
    ]
    const refuses = async (message: string) => {
      const refused = { status: 'rejected', reason: { status: 'FAILED_PRECONDITION', message } }
      const results = await Promise.allSettled(calls())
      expect(results).toMatchObject(results.map(() => refused))
    }
    await refuses(`Advanced webhooks are not configured for this workspace. Enable them first ${enable}`)
    await client.advancedWebhookConfig.update({ isEnabled: true })
    await client.advancedWebhookConfig.update({ isEnabled: false })
    await refuses(`Advanced webhooks are disabled for this workspace. Enable them ${enable}`)
  })
})

test('[24.14] two servers on one PostgreSQL keep the maximum and the uids together', async () => {
  const one = await startServer('postgres')
  onTestFinished(() => one.stop())
  const two = await startServer('postgres', { data: one.data })
  onTestFinished(async () => {
    await two.server.stop()
    await two.database.close()
  })
  const tenant = await given.tenant(one)
  const { apiKey, authToken } = tenant
  const clients = [tenant.client, two.client({ apiKey, authToken })]
  await tenant.client.advancedWebhookConfig.update({ isEnabled: true })
  const results = await Promise.allSettled(
    Array.from({ length: 120 }, (_, index) =>
      clients[index % 2]!.webhookEndpoints.create({ url, uid: `${Math.floor(index / 2)}` }),
    ),
  )
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.status] : []))
  expect(new Set(errors)).toEqual(new Set(['ALREADY_EXISTS', 'RESOURCE_EXHAUSTED']))
  expect(errors).toHaveLength(70)
})
