import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const channels = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, 'ALL' as const]))

describe.each(stores)('notification configs on %s', (store) => {
  const server = useServer(store)
  const organizationId = 'org_1'
  const userId = 'u1'
  const message = 'User config set successfully.'
  type Config = Record<string, 'ALL' | 'MINE' | 'NONE'>

  const set = async ({ client }: given.Tenant, config: Config, documentIds?: string[], userIds = [userId]) =>
    (await client.notifications.setConfig({ organizationId, userIds, documentIds, config })).data
  const configs = async ({ client }: given.Tenant, documentIds: string[]) =>
    (await client.notifications.getConfig({ organizationId, userId, documentIds })).data.map(
      (entry) => entry.config,
    )
  const organizationConfig = async ({ client }: given.Tenant, user = userId) =>
    (await client.notifications.getConfig({ organizationId, userId: user, getOrganizationConfig: true })).data

  test('[4.16] getConfig returns one entry for each document in the order of the request', async () => {
    const tenant = await given.tenant(server)
    const { apiKey, headers } = tenant
    await set(tenant, { inbox: 'NONE' }, ['d2'])
    const data = { organizationId, documentIds: ['d3', 'd2', 'd1', 'd2'], userId }
    for (const version of ['v1', 'v2']) {
      expect((await server.post(`/${version}/notifications/config/get`, { data }, headers)).body).toEqual({
        result: {
          status: 'success',
          message: 'User config fetched successfully.',
          data: [
            {
              config: { inbox: 'ALL', email: 'ALL' },
              metadata: { organizationId, apiKey, documentId: 'd3', userId },
            },
            {
              config: { inbox: 'NONE', email: 'ALL' },
              metadata: { organizationId, apiKey, documentId: 'd2', userId },
            },
            {
              config: { inbox: 'ALL', email: 'ALL' },
              metadata: { organizationId, apiKey, documentId: 'd1', userId },
            },
          ],
        },
      })
    }
  })

  test('[18.5] each channel uses the preference for the document, else the one for the organization, else ALL', async () => {
    const tenant = await given.tenant(server)
    await set(tenant, { inbox: 'MINE', slack: 'NONE', pager: 'MINE' })
    await set(tenant, { email: 'NONE', slack: 'ALL' }, ['d1'])
    expect(await configs(tenant, ['d1', 'd2'])).toEqual([
      { inbox: 'MINE', email: 'NONE', slack: 'ALL', pager: 'MINE' },
      { inbox: 'MINE', email: 'ALL', slack: 'NONE', pager: 'MINE' },
    ])
  })

  test('[4.16] [18.5] getOrganizationConfig returns the preference for the organization, whatever documentIds is', async () => {
    const tenant = await given.tenant(server)
    const { apiKey, client } = tenant
    const metadata = { organizationId, apiKey, documentId: '', userId }
    expect(await organizationConfig(tenant)).toEqual([{ config: { inbox: 'ALL', email: 'ALL' }, metadata }])
    await set(tenant, { email: 'MINE' })
    await set(tenant, { inbox: 'NONE' }, ['d1'])
    const entries = [{ config: { inbox: 'ALL', email: 'MINE' }, metadata }]
    expect(await organizationConfig(tenant)).toEqual(entries)
    for (const documentIds of [['d1'], []]) {
      const input = { organizationId, userId, documentIds, getOrganizationConfig: true }
      expect((await client.notifications.getConfig(input)).data).toEqual(entries)
    }
  })

  test('[0.1.4] v1 getConfig ignores getOrganizationConfig', async () => {
    const tenant = await given.tenant(server)
    const { apiKey, client } = tenant
    const input = { organizationId, userId, getOrganizationConfig: true }
    await expect(client.notifications.getConfig(input, { version: 'v1' })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'documentIds is required.',
    })
    expect(
      (await client.notifications.getConfig({ ...input, documentIds: ['d1'] }, { version: 'v1' })).data,
    ).toEqual([
      {
        config: { inbox: 'ALL', email: 'ALL' },
        metadata: { organizationId, apiKey, documentId: 'd1', userId },
      },
    ])
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['userId is required.', { userId: undefined }],
    ['userId is required.', { userId: '  ' }],
    ['documentIds is required.', { documentIds: undefined }],
    ['documentIds is required.', { documentIds: undefined, getOrganizationConfig: false }],
    ['documentIds must not be empty.', { documentIds: [] }],
    ['documentIds must be an array.', { documentIds: 'd1' }],
    [
      'documentIds must have at most 30 items.',
      { documentIds: Array.from({ length: 31 }, (_, n) => `d${n}`) },
    ],
    ['getOrganizationConfig must be a boolean.', { getOrganizationConfig: 'yes' }],
  ])('[4.16] [0.3] getConfig refuses a faulty body: %s', async (text, change) => {
    const { headers } = await given.tenant(server)
    const data = { organizationId, userId, documentIds: ['d1'], ...change }
    const answer = await server.post('/v2/notifications/config/get', { data }, headers)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message: text } },
    })
  })

  test('[18.6] setConfig returns a result for each user', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const config = { inbox: 'NONE' } as const
    const answer = (documentIds?: string[], version: 'v1' | 'v2' = 'v2') =>
      client.notifications.setConfig(
        { organizationId, userIds: ['u1', 'u2', 'u1'], documentIds, config },
        { version },
      )
    const outcome = (more: object) => ({
      u1: { success: true, userId: 'u1', ...more, message },
      u2: { success: true, userId: 'u2', ...more, message },
    })
    expect(await answer(['d1'], 'v1')).toEqual({ message, data: outcome({ documentId: 'd1' }) })
    expect(await answer(['d1', 'd1'])).toEqual({ message, data: outcome({ documentId: 'd1' }) })
    expect(await answer(['d2', 'd1', 'd2'])).toEqual({
      message,
      data: outcome({ documentId: 'd2', documentIds: ['d2', 'd1'] }),
    })
    expect(await answer()).toEqual({ message, data: outcome({}) })
    expect(await configs(tenant, ['d1', 'd2', 'd3'])).toMatchObject([
      { inbox: 'NONE' },
      { inbox: 'NONE' },
      { inbox: 'NONE' },
    ])
    expect(await organizationConfig(tenant, 'u2')).toMatchObject([{ config: { inbox: 'NONE' } }])
    expect(await organizationConfig(tenant, 'u3')).toMatchObject([{ config: { inbox: 'ALL' } }])
  })

  test('[18.6] setConfig keeps the channels that are not in the request', async () => {
    const tenant = await given.tenant(server)
    await set(tenant, { inbox: 'NONE', email: 'MINE' }, ['d1'])
    await set(tenant, { email: 'NONE', pager: 'MINE' }, ['d1', 'd2'])
    expect(await configs(tenant, ['d1', 'd2'])).toEqual([
      { inbox: 'NONE', email: 'NONE', pager: 'MINE' },
      { inbox: 'ALL', email: 'NONE', pager: 'MINE' },
    ])
  })

  test('[18.6] [0.7.5] setConfig accepts five hundred users and thirty documents in one call', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 500 }, (_, n) => `u${n}`)
    const documentIds = Array.from({ length: 30 }, (_, n) => `d${n}`)
    expect(Object.keys(await set(tenant, { inbox: 'NONE' }, documentIds, userIds)).length).toBe(500)
    expect(await configs(tenant, ['d0', 'd29', 'd30'])).toMatchObject([
      { inbox: 'NONE' },
      { inbox: 'NONE' },
      { inbox: 'ALL' },
    ])
  })

  test('[18.6] v1 setConfig requires documentIds', async () => {
    const tenant = await given.tenant(server)
    const input = { organizationId, userIds: [userId], config: { inbox: 'NONE' as const } }
    await expect(tenant.client.notifications.setConfig(input, { version: 'v1' })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'documentIds is required.',
    })
    expect(await organizationConfig(tenant)).toMatchObject([{ config: { inbox: 'ALL' } }])
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['userIds is required.', { userIds: undefined }],
    ['userIds must not be empty.', { userIds: [] }],
    ['userIds[1] is required.', { userIds: ['u1', ''] }],
    ['userIds must have at most 500 items.', { userIds: Array.from({ length: 501 }, (_, n) => `u${n}`) }],
    ['documentIds must not be empty.', { documentIds: [] }],
    [
      'documentIds must have at most 30 items.',
      { documentIds: Array.from({ length: 31 }, (_, n) => `d${n}`) },
    ],
    ['config is required.', { config: undefined }],
    ['config must be an object.', { config: 'ALL' }],
    ['config must not be empty.', { config: {} }],
    ['config.inbox must be one of: ALL, MINE, NONE.', { config: { inbox: 'SOME' } }],
    ['config.pager must be one of: ALL, MINE, NONE.', { config: { inbox: 'ALL', pager: 'all' } }],
    ['config.email must be a string.', { config: { email: true } }],
    ['config must have at most 20 channels.', { config: channels(21) }],
    ['The name of a channel must have 1 to 100 characters.', { config: { ['x'.repeat(101)]: 'ALL' } }],
    ['The name of a channel must have 1 to 100 characters.', { config: { ' ': 'ALL' } }],
  ])('[18.6] [0.3] setConfig refuses a faulty body: %s', async (text, change) => {
    const tenant = await given.tenant(server)
    const data = { organizationId, userIds: [userId], config: { inbox: 'NONE' }, ...change }
    const answer = await server.post('/v2/notifications/config/set', { data }, tenant.headers)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message: text } },
    })
    expect(await organizationConfig(tenant)).toMatchObject([{ config: { inbox: 'ALL', email: 'ALL' } }])
  })

  test('[18.6] the limit of 20 channels includes channels of earlier calls', async () => {
    const tenant = await given.tenant(server)
    await set(tenant, channels(20))
    await set(tenant, { c19: 'NONE' })
    await expect(set(tenant, { inbox: 'NONE' })).rejects.toMatchObject({
      message: 'config must have at most 20 channels.',
    })
    const [entry] = await organizationConfig(tenant)
    expect(entry?.config).toMatchObject({ c19: 'NONE', inbox: 'ALL' })
  })

  test('[0.9] getConfig and setConfig require the notification service to be enabled', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.apiKeyConfig.update({ useNotificationService: false })
    const refusal = {
      status: 'FAILED_PRECONDITION',
      message:
        'The notification service is not enabled for this API key. Set useNotificationService to true with /v2/workspace/apikeyconfig/update.',
    }
    await expect(configs(tenant, ['d1'])).rejects.toMatchObject(refusal)
    await expect(set(tenant, { inbox: 'NONE' })).rejects.toMatchObject(refusal)
    await tenant.client.apiKeyConfig.update({ useNotificationService: true })
    expect(await configs(tenant, ['d1'])).toEqual([{ inbox: 'ALL', email: 'ALL' }])
  })

  test('[18.6] [8.4] [10.4] a preference does not require its document to exist, and is deleted with its document or organization', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await set(tenant, { inbox: 'MINE' })
    await set(tenant, { inbox: 'NONE' }, ['d1'])
    await client.organizations.add({ organizations: [{ organizationId }] })
    await client.documents.add({ organizationId, documents: [{ documentId: 'd1' }] })
    expect(await configs(tenant, ['d1'])).toMatchObject([{ inbox: 'NONE' }])
    await client.documents.delete({ organizationId, documentIds: ['d1'] })
    expect(await configs(tenant, ['d1'])).toMatchObject([{ inbox: 'MINE' }])
    await client.organizations.delete({ organizationIds: [organizationId] })
    expect(await configs(tenant, ['d1'])).toMatchObject([{ inbox: 'ALL' }])
  })

  test('[0.2.1] two API keys have separate notification preferences', async () => {
    const mine = await given.tenant(server)
    const theirs = await given.tenant(server)
    await set(mine, { inbox: 'NONE' }, ['d1'])
    await set(mine, { email: 'NONE' })
    expect(await configs(theirs, ['d1'])).toEqual([{ inbox: 'ALL', email: 'ALL' }])
  })
})
