import { afterEach, describe, expect, test, vi } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { activity, add, idsOf, organizationId, setImmutable, tenantWithLog } from './calls.ts'

const off = {
  status: 'FAILED_PRECONDITION',
  message: 'Activity logs are not enabled for this workspace.',
}
const isImmutable = { status: 'FAILED_PRECONDITION', message: 'Activity is immutable.' }

describe.each(stores)('activities.add on %s', (store) => {
  const server = useServer(store)
  afterEach(() => void vi.useRealTimers())

  test('[21.1] [22.11] add stores an activity with everything that was sent, and get returns it', async () => {
    const tenant = await tenantWithLog(server)
    const { client, apiKey } = tenant
    const sent = activity({
      id: 'a/1',
      actionUser: { userId: 'ada', name: 'Ada', photoUrl: null, team: 7 },
      targetSubEntityId: 'part',
      changes: { status: { from: null, to: 'done' }, labels: { from: [], to: ['x'] } },
      entityData: ['any', { json: 1 }],
      entityTargetData: 0,
      displayMessageTemplate: '{{actionUser.name}} finished {{task}}',
      displayMessageTemplateData: { task: 'the draft' },
      actionIcon: 'check',
      isActivityResolverUsed: true,
    })
    const junk = { ...sent, immutable: true, timestamp: 1, metadata: {}, eventType: 'x', junk: 1 }
    vi.setSystemTime(1_900_000_000_000)
    const input = { organizationId, documentId: 'doc_1', activities: [junk] }
    expect(await client.activities.add(input)).toEqual({
      message: 'Activity(s) added successfully.',
      data: { success: true, ids: ['a/1'], message: 'Activity(s) added successfully.' },
    })
    const read = async () => (await client.activities.get({ organizationId })).data
    const stored = {
      ...sent,
      actionUser: { userId: 'ada', name: 'Ada', team: 7 },
      timestamp: 1_900_000_000_000,
      immutable: false,
      metadata: { apiKey, organizationId, documentId: 'doc_1' },
    }
    expect(await read()).toEqual([stored])
    await client.folders.add({ organizationId, folders: [{ folderId: 'f' }] })
    await client.documents.move({ organizationId, documentIds: ['doc_1'], folderId: 'f' })
    expect(await read()).toEqual([{ ...stored, metadata: { ...stored.metadata, folderId: 'f' } }])
  })

  test('[21.1] [0.8] add creates the organization, the document and the users', async () => {
    const tenant = await tenantWithLog(server)
    const { client } = tenant
    await add(tenant, [{ actionUser: { userId: 'ada', name: 'Ada' } }, {}, { actionUser: { userId: 'bob' } }])
    expect((await client.documents.get({ organizationId })).data.map(({ id }) => id)).toEqual(['doc_1'])
    const known = await server.database.read
      .selectFrom('users')
      .select('user_id')
      .where('api_key', '=', tenant.apiKey)
      .orderBy('user_id')
      .execute()
    expect(known.map((user) => user.user_id)).toEqual(['ada', 'bob'])
  })

  test('[21.1] add is refused while the log is off, and creates nothing', async () => {
    const tenant = await given.tenant(server)
    await expect(add(tenant, [{}])).rejects.toMatchObject(off)
    expect((await tenant.client.organizations.get()).data).toEqual([])
    await tenant.client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    await add(tenant, [{ id: 'a' }])
    await tenant.client.activityConfig.update({ activityServiceConfig: { isEnabled: false } })
    await expect(add(tenant, [{}])).rejects.toMatchObject(off)
    expect(await idsOf(tenant)).toEqual(['a'])
  })

  test('[21.1.2] an activity with an existing id is overwritten in its place', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'a', entityData: 1, targetSubEntityId: 'part' }])
    await add(tenant, [{ id: 'b' }])
    const before = (await tenant.client.activities.get({ organizationId, activityIds: ['a'] })).data
    const changed = { id: 'a', actionType: 'task.reopen', featureType: 'crdt', targetEntityId: 't2' } as const
    const user = { userId: 'bob' }
    expect(await add(tenant, [{ ...changed, actionUser: user }], { documentId: 'doc_2' })).toEqual(['a'])
    const { data } = await tenant.client.activities.get({ organizationId })
    expect(data.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(data[1]).toEqual({
      ...changed,
      actionUser: user,
      timestamp: before[0]?.timestamp,
      immutable: false,
      metadata: { apiKey: tenant.apiKey, organizationId, documentId: 'doc_2' },
    })
    expect(await idsOf(tenant, { documentId: 'doc_2', userId: 'bob', targetEntityId: 't2' })).toEqual(['a'])
    expect(await idsOf(tenant, { targetEntityId: 'task' })).toEqual(['b'])
  })

  test('[21.1.1] [21.1.2] [21.1.3] a call that would overwrite an immutable activity adds none, also after the configuration has changed', async () => {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'mutable' }])
    await setImmutable(tenant, true)
    await add(tenant, [{ id: 'fixed', entityData: 1 }, { id: 'mutable' }])
    await setImmutable(tenant, false)
    const call = add(tenant, [{ id: 'new' }, { id: 'fixed', entityData: 2 }], { documentId: 'doc_new' })
    await expect(call).rejects.toMatchObject(isImmutable)
    const { data } = await tenant.client.activities.get({ organizationId })
    const states = data.map(({ id, immutable, entityData }) => [id, immutable, entityData])
    expect(Object.fromEntries(states.map(([id, ...state]) => [id, state]))).toEqual({
      mutable: [false, undefined],
      fixed: [true, 1],
    })
    const { data: documents } = await tenant.client.documents.get({ organizationId })
    expect(documents.map(({ id }) => id)).toEqual(['doc_1'])
  })

  test('[21.1] [21.2] [0.4.2] new ids list activities in the order of the call, and of a repeated id the first entry applies', async () => {
    const tenant = await tenantWithLog(server)
    const entries = Array.from({ length: 120 }, (_, entityData) => ({ entityData }))
    const ids = await add(tenant, entries)
    expect(new Set(ids).size).toBe(120)
    expect(await idsOf(tenant, { order: 'asc' })).toEqual(ids)
    expect(
      await add(tenant, [
        { id: 'a', entityData: 1 },
        { id: 'a', entityData: 2 },
      ]),
    ).toEqual(['a'])
    const { data } = await tenant.client.activities.get({ organizationId, activityIds: ['a'] })
    expect(data[0]?.entityData).toBe(1)
  })

  test('[0.6.3] [0.7.10] property names of objects are ordinary ids, and keys that would reach a prototype are dropped', async () => {
    const tenant = await tenantWithLog(server)
    const ids = ['__proto__', 'constructor', 'toString']
    await add(
      tenant,
      ids.map((id) => ({ id, actionType: id, targetEntityId: id, actionUser: { userId: id } })),
    )
    for (const id of ids) {
      const filter = { targetEntityId: id, userId: id, actionTypes: [id], activityIds: [id] }
      expect(await idsOf(tenant, filter)).toEqual([id])
    }
    const body = `{"data":{"organizationId":"org_1","documentId":"doc_1","activities":[{"id":"p",
      "featureType":"custom","actionType":"x","targetEntityId":"t","actionUser":{"userId":"u"},
      "changes":{"__proto__":{"from":1},"a":{"to":1}},"entityData":{"__proto__":{"x":1},"b":2}}]}}`
    expect((await server.post('/v2/activities/add', body, tenant.headers)).status).toBe(200)
    const { data } = await tenant.client.activities.get({ organizationId, activityIds: ['p'] })
    expect(data[0]).toMatchObject({ changes: { a: { to: 1 } }, entityData: { b: 2 } })
    expect(JSON.stringify(data)).not.toContain('__proto__')
    const outcome = await tenant.client.activities.delete({ organizationId, activityIds: ids })
    expect(Object.keys(outcome.data).sort()).toEqual([...ids].sort())
  })

  test('[0.7.6] [21.1.1] the data of an activity has at most 16 KiB, and a call with a larger one adds none', async () => {
    const tenant = await tenantWithLog(server)
    const call = add(tenant, [{ id: 'small' }, { id: 'large', entityData: 'é'.repeat(8192) }])
    await expect(call).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^The data of activity large would have \d+ bytes as JSON\./),
    })
    expect(await idsOf(tenant)).toEqual([])
    await add(tenant, [{ id: 'fits', entityData: 'é'.repeat(8000) }])
    expect(await idsOf(tenant)).toEqual(['fits'])
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['documentId is required.', { documentId: '' }],
    ['activities is required.', { activities: undefined }],
    ['activities must not be empty.', { activities: [] }],
    [
      'activities must have at most 500 items.',
      { activities: Array.from({ length: 501 }, () => activity()) },
    ],
    ['activities[0].id must not be empty.', { activities: [activity({ id: '' })] }],
    [
      'activities[1].id must not contain control characters and must not be "." or "..".',
      { activities: [activity(), activity({ id: 'a\u0007' })] },
    ],
    ['activities[0].featureType is required.', { activities: [{ ...activity(), featureType: undefined }] }],
    [
      'activities[0].featureType must be one of: comment, reaction, recorder, crdt, custom.',
      { activities: [{ ...activity(), featureType: 'weather' }] },
    ],
    ['activities[0].actionType is required.', { activities: [activity({ actionType: ' ' })] }],
    [
      'activities[0].actionType must have at most 256 characters.',
      { activities: [activity({ actionType: 'x'.repeat(257) })] },
    ],
    ['activities[0].actionUser is required.', { activities: [{ ...activity(), actionUser: undefined }] }],
    ['activities[0].actionUser.userId is required.', { activities: [{ ...activity(), actionUser: {} }] }],
    [
      'activities[1].targetEntityId is required.',
      { activities: [activity(), activity({ targetEntityId: undefined })] },
    ],
    ['activities[0].changes must be an object.', { activities: [{ ...activity(), changes: [] }] }],
    ['activities[0].changes.a must be an object.', { activities: [{ ...activity(), changes: { a: 1 } }] }],
    [
      'activities[0].displayMessageTemplateData must be an object.',
      { activities: [{ ...activity(), displayMessageTemplateData: 'x' }] },
    ],
    [
      'activities[0].actionIcon must have at most 2000 characters.',
      { activities: [activity({ actionIcon: 'x'.repeat(2001) })] },
    ],
  ])('[21.1] [0.3] add refuses a faulty body: %s', async (message, change) => {
    const tenant = await tenantWithLog(server)
    const data = { organizationId, documentId: 'doc_1', activities: [activity()], ...change }
    const answer = await server.post('/v2/activities/add', { data }, tenant.headers)
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
    expect((await tenant.client.organizations.get()).data).toEqual([])
  })

  test('[0.7.1] [0.7.7] add refuses a body of 10 MiB, and strings with NUL or an unpaired surrogate', async () => {
    const tenant = await tenantWithLog(server)
    const post = (entityData: unknown) =>
      server.post(
        '/v2/activities/add',
        { data: { organizationId, documentId: 'doc_1', activities: [activity({ entityData })] } },
        tenant.headers,
      )
    expect((await post('x'.repeat(10 * 1024 * 1024))).status).toBe(413)
    for (const text of ['a\0b', '\ud800']) {
      expect(await post({ deep: [text] })).toMatchObject({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT' } },
      })
    }
    expect(await idsOf(tenant)).toEqual([])
  })

  test('[21.1] concurrent calls with the same ids all succeed and leave one activity per id', async () => {
    const tenant = await tenantWithLog(server)
    const ids = ['a', 'b', 'c', 'd']
    await Promise.all(
      [ids, ids.toReversed(), ids, ids.toReversed()].map((some, entityData) =>
        add(
          tenant,
          some.map((id) => ({ id, entityData })),
        ),
      ),
    )
    const { data } = await tenant.client.activities.get({ organizationId })
    expect(data.map(({ id }) => id).sort()).toEqual(ids)
    expect(new Set(data.map(({ entityData }) => entityData)).size).toBe(1)
  })
})
