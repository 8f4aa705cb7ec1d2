import { afterEach, describe, expect, test, vi } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { add, idsOf, organizationId, tenantWithLog } from './calls.ts'

describe.each(stores)('activities.get on %s', (store) => {
  const server = useServer(store)
  afterEach(() => void vi.useRealTimers())

  test('[21.2] get returns only activities that match all filters', async () => {
    const tenant = await tenantWithLog(server)
    const bob = { userId: 'bob' }
    await add(tenant, [{ id: 'a1' }, { id: 'a2', targetEntityId: 'other' }, { id: 'a3', actionUser: bob }])
    await add(
      tenant,
      [
        { id: 'b1', actionUser: bob },
        { id: 'b2', actionType: 'task.open' },
      ],
      {
        documentId: 'doc_2',
      },
    )
    await add(tenant, [{ id: 'c1', featureType: 'crdt', targetEntityId: undefined }], { documentId: 'doc_3' })
    await add(tenant, [{ id: 'x' }], { organizationId: 'org_2' })
    const get = async (filter: object) => (await idsOf(tenant, filter)).sort()
    expect(await get({})).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
    expect(await get({ documentId: 'doc_1' })).toEqual(['a1', 'a2', 'a3'])
    expect(await get({ targetEntityId: 'task' })).toEqual(['a1', 'a3', 'b1', 'b2'])
    expect(await get({ userId: 'bob' })).toEqual(['a3', 'b1'])
    expect(await get({ userId: 'bob', documentId: 'doc_1' })).toEqual(['a3'])
    expect(await get({ userId: 'bob', documentId: 'doc_1', targetEntityId: 'other' })).toEqual([])
    expect(await get({ featureTypes: ['crdt', 'comment'] })).toEqual(['c1'])
    expect(await get({ actionTypes: ['task.open', 'unknown'] })).toEqual(['b2'])
    expect(await get({ actionTypes: ['task.open'], documentId: 'doc_1' })).toEqual([])
    expect(await get({ activityIds: ['a2', 'b1', 'a2', 'unknown', 'x'] })).toEqual(['a2', 'b1'])
    expect(await get({ activityIds: ['a2', 'b1'], userId: 'bob', featureTypes: ['custom'] })).toEqual(['b1'])
    for (const empty of [{ activityIds: [] }, { featureTypes: [] }, { actionTypes: [] }]) {
      expect(await get(empty)).toEqual([])
    }
    expect(await get({ documentId: 'unknown' })).toEqual([])
    expect(await get({ organizationId: 'unknown' })).toEqual([])
    expect(await get({ organizationId: 'org_2' })).toEqual(['x'])
  })

  test.each(['asc', 'desc'] as const)(
    '[21.2] pages in order %s contain each activity once, although many have the same time',
    async (order) => {
      const tenant = await tenantWithLog(server)
      const added: { id: string; timestamp: number }[] = []
      for (let moment = 0; moment < 3; moment++) {
        const timestamp = 1_900_000_000_000 + moment
        vi.setSystemTime(timestamp)
        const ids = ['b', 'a', 'd', 'c'].map((name) => `${name}${moment}`)
        await add(
          tenant,
          ids.map((id) => ({ id })),
        )
        added.push(...ids.map((id) => ({ id, timestamp })))
      }
      vi.useRealTimers()
      const sign = order === 'asc' ? 1 : -1
      const expected = added
        .sort((a, b) => sign * (a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1)))
        .map(({ id }) => id)
      const filters = [
        {},
        { documentId: 'doc_1' },
        { userId: 'ada', targetEntityId: 'task' },
        { activityIds: expected.toReversed() },
      ]
      for (const filter of filters) {
        const seen: string[] = []
        let pageToken: string | undefined
        do {
          const input = { organizationId, ...filter, order, pageSize: 5, ...(pageToken && { pageToken }) }
          const page = await tenant.client.activities.get(input)
          expect(page.pageToken).toBe(page.nextPageToken)
          seen.push(...page.data.map((one) => one.id))
          pageToken = page.pageToken
        } while (pageToken)
        expect(seen).toEqual(expected)
      }
    },
  )

  test('[21.2] [0.5] the last page has no token, and a page token is valid only for the same query', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a' }, { id: 'b' }])
    const input = { organizationId, documentId: 'doc_1', pageSize: 1 }
    const { pageToken } = await tenant.client.activities.get(input)
    expect(await tenant.client.activities.get({ ...input, pageToken })).toEqual({
      message: 'Activity(s) retrieved successfully.',
      data: [expect.objectContaining({ id: 'a' })],
    })
    const others = [{ userId: 'ada' }, { order: 'asc' as const }, { pageToken: 'nonsense' }]
    for (const other of others) {
      await expect(tenant.client.activities.get({ ...input, pageToken, ...other })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: 'Invalid page token.',
      })
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['documentId must not be empty.', { documentId: '' }],
    ['featureTypes[0] must be one of: comment, reaction, recorder, crdt, custom.', { featureTypes: ['x'] }],
    ['featureTypes must have at most 30 items.', { featureTypes: Array.from({ length: 31 }, () => 'crdt') }],
    ['actionTypes must have at most 30 items.', { actionTypes: Array.from({ length: 31 }, () => 'x') }],
    ['activityIds must have at most 30 items.', { activityIds: Array.from({ length: 31 }, () => 'x') }],
    ['order must be one of: asc, desc.', { order: 'up' }],
    ['pageSize must be an integer between 1 and 1000.', { pageSize: 0 }],
  ])('[21.2] [0.3] get refuses a faulty body: %s', async (message, change) => {
    const { headers } = await tenantWithLog(server)
    const answer = await server.post('/v2/activities/get', { data: { organizationId, ...change } }, headers)
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
  })
})
