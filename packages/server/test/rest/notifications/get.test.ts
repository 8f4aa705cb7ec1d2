import { afterEach, describe, expect, test, vi } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

describe.each(stores)('notifications.get on %s', (store) => {
  const server = useServer(store)
  afterEach(() => void vi.useRealTimers())

  test('[18.2] get returns only notifications that match all filters', async () => {
    const tenant = await given.tenant(server)
    const here = await given.notification(tenant, { locationId: 'l1' })
    const there = await given.notification(tenant, { locationId: 'l2', notifyUsers: [{ userId: 'u2' }] })
    const elsewhere = await given.notification(tenant, { documentId: 'doc_2', locationId: 'l1' })
    const get = async (filter: object) =>
      (await tenant.client.notifications.get({ organizationId: 'org_1', ...filter })).data.map(
        (one) => one.id,
      )
    expect(await get({ documentId: 'doc_1' })).toEqual([there, here])
    expect(await get({ documentId: 'doc_1', locationId: 'l1' })).toEqual([here])
    expect(await get({ userId: 'u1' })).toEqual([elsewhere, here])
    expect(await get({ userId: 'u1', documentId: 'doc_1' })).toEqual([here])
    expect(await get({ userId: 'u1', documentId: 'doc_1', locationId: 'l2' })).toEqual([])
    expect(await get({ userId: 'u1', notificationIds: [there, elsewhere, 'unknown', elsewhere] })).toEqual([
      elsewhere,
    ])
    expect(await get({ documentId: 'doc_1', notificationIds: [] })).toEqual([])
    expect(await get({ organizationId: 'unknown', documentId: 'doc_1' })).toEqual([])
    expect(await get({ documentId: 'unknown' })).toEqual([])
    expect(await get({ userId: 'unknown' })).toEqual([])
  })

  test('[18.2] v2 get requires a document or a user; v1 get returns everything, newest first, without pages', async () => {
    const tenant = await given.tenant(server)
    const first = await given.notification(tenant)
    const second = await given.notification(tenant, { documentId: 'doc_2' })
    await expect(
      tenant.client.notifications.get({ organizationId: 'org_1', locationId: 'l1' }),
    ).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'Either documentId or userId is required.',
    })
    const input = { organizationId: 'org_1', order: 'asc', pageSize: 1, pageToken: 'x' } as const
    const answer = await tenant.client.notifications.get(input, { version: 'v1' })
    expect(answer).toEqual({ message: 'Notification(s) retrieved successfully.', data: expect.any(Array) })
    expect(answer.data.map((one) => one.id)).toEqual([second, first])
  })

  test.each(['asc', 'desc'] as const)(
    '[18.2] pages in order %s contain each notification once, although many have the same time',
    async (order) => {
      const tenant = await given.tenant(server)
      const added: { id: string; timestamp: number }[] = []
      for (let moment = 0; moment < 3; moment++) {
        const timestamp = 1_900_000_000_000 + moment
        vi.setSystemTime(timestamp)
        for (const name of ['b', 'a', 'd', 'c']) {
          added.push({
            id: await given.notification(tenant, { notificationId: `${name}${moment}` }),
            timestamp,
          })
        }
      }
      vi.useRealTimers()
      const sign = order === 'asc' ? 1 : -1
      const expected = added
        .sort((a, b) => sign * (a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1)))
        .map(({ id }) => id)
      for (const by of [{ documentId: 'doc_1' }, { userId: 'u1' }]) {
        const seen: string[] = []
        let pageToken: string | undefined
        do {
          const page = await tenant.client.notifications.get({
            organizationId: 'org_1',
            ...by,
            order,
            pageSize: 3,
            ...(pageToken && { pageToken }),
          })
          expect(page.pageToken).toBe(page.nextPageToken)
          seen.push(...page.data.map((one) => one.id))
          pageToken = page.pageToken
        } while (pageToken)
        expect(seen).toEqual(expected)
      }
    },
  )

  test('[18.2] the last page has no token, and a page token is valid only for the same query', async () => {
    const tenant = await given.tenant(server)
    const ids = [await given.notification(tenant), await given.notification(tenant)]
    const input = { organizationId: 'org_1', documentId: 'doc_1', pageSize: 1 }
    const { pageToken } = await tenant.client.notifications.get(input)
    const last = await tenant.client.notifications.get({ ...input, pageToken })
    expect(last).toEqual({
      message: 'Notification(s) retrieved successfully.',
      data: [expect.objectContaining({ id: ids[0] })],
    })
    for (const other of [{ userId: 'u1' }, { order: 'asc' as const }, { pageToken: 'nonsense' }]) {
      await expect(tenant.client.notifications.get({ ...input, pageToken, ...other })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: 'Invalid page token.',
      })
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['documentId must not be empty.', { documentId: '' }],
    ['order must be one of: asc, desc.', { order: 'up' }],
    ['pageSize must be an integer between 1 and 1000.', { pageSize: 1001 }],
    [
      'notificationIds must have at most 30 items.',
      { notificationIds: Array.from({ length: 31 }, (_, n) => `n${n}`) },
    ],
  ])('[18.2] [0.3] get refuses a faulty body: %s', async (message, change) => {
    const { headers } = await given.tenant(server)
    const data = { organizationId: 'org_1', documentId: 'doc_1', ...change }
    const answer = await server.post('/v2/notifications/get', { data }, headers)
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
  })

  test('[0.9] get requires advanced queries to be enabled', async () => {
    const { client } = await given.tenant(server)
    await client.apiKeyConfig.update({ useAdvancedQueries: false })
    await expect(
      client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' }),
    ).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      message:
        'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
    })
  })
})
