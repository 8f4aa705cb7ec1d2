import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedPresence } from '../../support/data/live-documents.ts'

const entry = (fields: object) => ({
  source: 'rest',
  lastUpdated: expect.any(Number),
  look: { color: expect.stringMatching(/^#/) },
  ...fields,
})
const invalid = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})

describe.each(stores)('presence on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const documentRef = { organizationId: 'o1', documentId: 'd1' }
  const day = 24 * 60 * 60 * 1000
  const now = () => Date.now() + server.clock.offsetMs

  /** Reads the presence list from the store, because no operation returns it. */
  const present = (tenant: given.Tenant, document = documentRef, at = now()) =>
    storedPresence(server, tenant, document, at)
  const call = (tenant: given.Tenant, verb: string, data: unknown) =>
    server.post(`/v2/presence/${verb}`, { data }, tenant.headers)

  test('[4.10] add returns success and shows the users, online by default', async () => {
    const tenant = await given.tenant(server)
    const users = [
      { userId: 'u1', name: 'Ada', email: 'ada@example.com', status: 'away' as const },
      { userId: 'u2', name: 'Bob', email: 'bob@example.com' },
      { userId: 'u3', status: 'offline' as const },
    ]
    expect(await tenant.client.presence.add({ ...documentRef, users })).toEqual({
      message: 'Presence added successfully.',
      data: { success: true },
    })
    expect(await present(tenant)).toEqual([
      entry({ userId: 'u1', name: 'Ada', email: 'ada@example.com', status: 'away' }),
      entry({ userId: 'u2', name: 'Bob', email: 'bob@example.com', status: 'online' }),
      entry({ userId: 'u3', status: 'offline' }),
    ])
  })

  test('[4.10] the answer to add is the complete envelope', async () => {
    const tenant = await given.tenant(server)
    const { status, body } = await call(tenant, 'add', { ...documentRef, users: [{ userId: 'u1' }] })
    expect([status, body]).toEqual([
      200,
      { result: { status: 'success', message: 'Presence added successfully.', data: { success: true } } },
    ])
  })

  test('[15.1] add creates the organization, the document and missing profiles, and keeps existing profiles', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.users.add({ organizationId: 'o0', users: [{ userId: 'u1', name: 'Ada' }] })
    const users = [
      { userId: 'u1', name: 'Other' },
      { userId: 'u2', name: 'Bob', email: 'bob@example.com' },
    ]
    await tenant.client.presence.add({ ...documentRef, users })
    const { data } = await tenant.client.organizations.get({ organizationIds: ['o1'] })
    expect(data).toMatchObject([{ id: 'o1', disabled: false }])
    const stored = await server.database.read
      .selectFrom('documents')
      .select('document_id')
      .where('api_key', '=', tenant.apiKey)
      .execute()
    expect(stored).toEqual([{ document_id: 'd1' }])
    const profiles = await server.database.read
      .selectFrom('users')
      .select(['user_id', 'email', 'profile'])
      .where('api_key', '=', tenant.apiKey)
      .orderBy('user_id')
      .execute()
    expect(
      profiles.map(({ profile, ...row }) => ({ ...row, profile: JSON.parse(profile) as unknown })),
    ).toEqual([
      { user_id: 'u1', email: null, profile: { name: 'Ada' } },
      { user_id: 'u2', email: 'bob@example.com', profile: { name: 'Bob', email: 'bob@example.com' } },
    ])
  })

  test('[15.1] [0.4.2] add replaces the whole entry of a present user, and the first entry of a repeated user wins', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.presence.add({
      ...documentRef,
      users: [{ userId: 'u1', name: 'Ada', status: 'away' }],
    })
    await tenant.client.presence.add({
      ...documentRef,
      users: [
        { userId: 'u1', email: 'ada@example.com' },
        { userId: 'u1', name: 'Second', status: 'offline' },
      ],
    })
    expect(await present(tenant)).toEqual([
      entry({ userId: 'u1', email: 'ada@example.com', status: 'online' }),
    ])
  })

  test('[15.1] [0.2.1] documents, organizations and API keys have separate presence lists', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    const documentRefs = [
      documentRef,
      { ...documentRef, documentId: 'd2' },
      { ...documentRef, organizationId: 'o2' },
    ]
    for (const [index, documentRef] of documentRefs.entries()) {
      await one.client.presence.add({ ...documentRef, users: [{ userId: 'u1', name: `in ${index}` }] })
    }
    await other.client.presence.add({ ...documentRef, users: [{ userId: 'u9' }] })
    await other.client.presence.update({ ...documentRef, users: [{ userId: 'u1', status: 'away' }] })
    await other.client.presence.delete({ ...documentRef, userIds: ['u1'] })
    for (const [index, documentRef] of documentRefs.entries()) {
      expect(await present(one, documentRef)).toEqual([
        entry({ userId: 'u1', name: `in ${index}`, status: 'online' }),
      ])
    }
    expect(await present(other)).toEqual([entry({ userId: 'u9', status: 'online' })])
  })

  test('[15.2] update changes the sent fields and ignores users who are not present', async () => {
    const tenant = await given.tenant(server)
    const users = [{ userId: 'u1', name: 'Ada', email: 'ada@example.com' }, { userId: 'u2' }]
    await tenant.client.presence.add({ ...documentRef, users })
    expect(
      await tenant.client.presence.update({
        ...documentRef,
        users: [
          { userId: 'u1', status: 'away' },
          { userId: 'u1', status: 'offline' },
          { userId: 'u2', name: 'Bob' },
          { userId: 'u3', name: 'Nobody' },
        ],
      }),
    ).toEqual({ message: 'Presence updated successfully.', data: { success: true } })
    expect(await present(tenant)).toEqual([
      entry({ userId: 'u1', name: 'Ada', email: 'ada@example.com', status: 'away' }),
      entry({ userId: 'u2', name: 'Bob', status: 'online' }),
    ])
  })

  test('[15.1.2] [15.2] add and update store the color, the picture and the data of an entry, and null removes the data', async () => {
    const tenant = await given.tenant(server)
    const { presence } = tenant.client
    const photoUrl = 'https://example.com/agent.png'
    const cursor = { cursor: [1, 2] }
    const agent = { userId: 'agent', color: 'teal', photoUrl, data: cursor }
    await presence.add({ ...documentRef, users: [agent] })
    const sentLook = { color: 'teal', photoUrl }
    const stored = entry({ userId: 'agent', status: 'online', sentLook, data: JSON.stringify(cursor) })
    expect(await present(tenant)).toEqual([stored])
    await presence.update({ ...documentRef, users: [{ userId: 'agent', status: 'away' }] })
    expect(await present(tenant)).toEqual([{ ...stored, status: 'away' }])
    await presence.update({ ...documentRef, users: [{ userId: 'agent', data: null, color: 'red' }] })
    expect(await present(tenant)).toEqual([
      entry({ userId: 'agent', status: 'away', sentLook: { color: 'red', photoUrl } }),
    ])
  })

  test('[15.1.2] data of more than 2 KiB is refused and changes nothing', async () => {
    const tenant = await given.tenant(server)
    const users = [{ userId: 'u1' }, { userId: 'agent', data: { text: 'é'.repeat(1024) } }]
    expect(await call(tenant, 'add', { ...documentRef, users })).toMatchObject(
      invalid('The data of user agent must have at most 2048 bytes as JSON.'),
    )
    expect(await present(tenant)).toEqual([])
  })

  test('[15.1.3] add and update name the fields that they ignore', async () => {
    const tenant = await given.tenant(server)
    const answer = async (verb: string, users: object[]) =>
      (await call(tenant, verb, { ...documentRef, users })).body.result.data
    const users = [
      { userId: 'u1', name: 'Ada' },
      { userId: 'u2', colour: 'red', cursor: { x: 1 } },
    ]
    const ignoredFields = ['users[1].colour', 'users[1].cursor']
    expect(await answer('add', users)).toEqual({ success: true, ignoredFields })
    expect(await answer('update', users)).toEqual({ success: true, ignoredFields })
    expect(await answer('update', users.slice(0, 1))).toEqual({ success: true })
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, 1]))
    expect((await answer('add', [{ userId: 'u1', ...many }])).ignoredFields).toHaveLength(20)
  })

  test('[15.2] update and delete in an unknown organization succeed and create nothing', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.presence.update({ ...documentRef, users: [{ userId: 'u1' }] })
    await tenant.client.presence.delete({ ...documentRef, userIds: ['u1'] })
    expect(await present(tenant)).toEqual([])
    expect((await tenant.client.organizations.get()).data).toEqual([])
  })

  test('[4.14] delete returns success, removes only the named users and ignores users who are not present', async () => {
    const tenant = await given.tenant(server)
    const users = ['u1', 'u2', 'u3'].map((userId) => ({ userId }))
    await tenant.client.presence.add({ ...documentRef, users })
    expect(
      await tenant.client.presence.delete({ ...documentRef, userIds: ['u1', 'u3', 'u1', 'u4'] }),
    ).toEqual({
      message: 'Presence deleted successfully.',
      data: { success: true },
    })
    expect(await present(tenant)).toEqual([entry({ userId: 'u2', status: 'online' })])
    expect(await call(tenant, 'delete', { ...documentRef, userIds: ['u9'] })).toMatchObject({
      status: 200,
      body: {
        result: { status: 'success', message: 'Presence deleted successfully.', data: { success: true } },
      },
    })
  })

  test('[15] a user is present for 24 hours after each add or update, and an update after that does not bring the user back', async () => {
    const tenant = await given.tenant(server)
    const users = ['kept', 'lost'].map((userId) => ({ userId, name: userId }))
    await tenant.client.presence.add({ ...documentRef, users })
    server.clock.offsetMs += day / 2
    await tenant.client.presence.update({ ...documentRef, users: [{ userId: 'kept' }] })
    server.clock.offsetMs += day / 2
    expect(await present(tenant)).toEqual([entry({ userId: 'kept', name: 'kept', status: 'online' })])

    // The row of the user `lost` still exists, but an update does not make the user present again.
    await tenant.client.presence.update({ ...documentRef, users: [{ userId: 'lost', status: 'away' }] })
    expect((await present(tenant)).map((one) => one.userId)).toEqual(['kept'])
    const [kept] = await present(tenant)
    expect(await present(tenant, documentRef, kept!.lastUpdated + day - 1)).toHaveLength(1)
    expect(await present(tenant, documentRef, kept!.lastUpdated + day)).toEqual([])
  })

  test('[8.4] presence is deleted with its organization', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.presence.add({ ...documentRef, users: [{ userId: 'u1' }] })
    await tenant.client.organizations.delete({ organizationIds: ['o1'] })
    expect(await present(tenant)).toEqual([])
  })

  test.each(['add', 'update'])(
    '[4.10] [15.2] [0.3] %s refuses an invalid body and changes nothing',
    async (verb) => {
      const tenant = await given.tenant(server)
      await tenant.client.presence.add({ ...documentRef, users: [{ userId: 'u1', name: 'Ada' }] })
      const users = [{ userId: 'u1', status: 'away' }]
      const faults: [unknown, string][] = [
        [{ documentId: 'd1', users }, 'organizationId is required.'],
        [{ ...documentRef, organizationId: ' ', users }, 'organizationId is required.'],
        [{ organizationId: 'o1', users }, 'documentId is required.'],
        [{ ...documentRef, documentId: '', users }, 'documentId is required.'],
        [{ ...documentRef, documentId: 7, users }, 'documentId must be a string.'],
        [documentRef, 'users is required.'],
        [{ ...documentRef, users: {} }, 'users must be an array.'],
        [{ ...documentRef, users: [] }, 'users must not be empty.'],
        [{ ...documentRef, users: [...users, { name: 'x' }] }, 'users[1].userId is required.'],
        [
          { ...documentRef, users: [{ userId: 'a\nb' }] },
          expect.stringMatching(/^users\[0\]\.userId must not contain/),
        ],
        [
          { ...documentRef, users: [...users, { userId: 'u2', status: 'active' }] },
          'users[1].status must be one of: online, away, offline.',
        ],
        [{ ...documentRef, users: [{ userId: 'u1', name: 1 }] }, 'users[0].name must be a string.'],
        [{ ...documentRef, users: [{ userId: 'u1', email: null }] }, 'users[0].email must be a string.'],
        [
          { ...documentRef, users: Array.from({ length: 501 }, (_, i) => ({ userId: `u${i}` })) },
          'users must have at most 500 items.',
        ],
      ]
      for (const [data, message] of faults)
        expect(await call(tenant, verb, data)).toMatchObject(invalid(message))
      expect(await present(tenant)).toEqual([entry({ userId: 'u1', name: 'Ada', status: 'online' })])
    },
  )

  test('[4.14] [0.3] delete refuses an invalid body', async () => {
    const tenant = await given.tenant(server)
    const faults: [unknown, string][] = [
      [{ documentId: 'd1', userIds: ['u1'] }, 'organizationId is required.'],
      [{ organizationId: 'o1', userIds: ['u1'] }, 'documentId is required.'],
      [documentRef, 'userIds is required.'],
      [{ ...documentRef, userIds: 'u1' }, 'userIds must be an array.'],
      [{ ...documentRef, userIds: [] }, 'userIds must not be empty.'],
      [{ ...documentRef, userIds: [''] }, 'userIds[0] is required.'],
      [
        { ...documentRef, userIds: Array.from({ length: 501 }, (_, i) => `u${i}`) },
        'userIds must have at most 500 items.',
      ],
    ]
    for (const [data, message] of faults)
      expect(await call(tenant, 'delete', data)).toMatchObject(invalid(message))
  })

  test('[4.10] [0.7.5] add accepts 500 users in one call, and many concurrent calls', async () => {
    const tenant = await given.tenant(server)
    const users = Array.from({ length: 500 }, (_, index) => ({ userId: `u${index}` }))
    await tenant.client.presence.add({ ...documentRef, users })
    expect(await present(tenant)).toHaveLength(500)
    const many = { ...documentRef, documentId: 'd2' }
    const client = server.client({ ...tenant, retries: 5 })
    await Promise.all(
      users.slice(0, 20).map((user) => client.presence.add({ ...many, users: [user, { userId: 'same' }] })),
    )
    expect(await present(tenant, many)).toHaveLength(21)
  })

  test('[15.1.1] a document has at most 1,000 users added by a backend, and those who are present can be added again', async () => {
    const tenant = await given.tenant(server)
    const users = Array.from({ length: 1_001 }, (_, index) => ({ userId: `u${index}` }))
    const add = (from: number, to: number) =>
      call(tenant, 'add', { ...documentRef, users: users.slice(from, to) })
    expect(await add(0, 500)).toMatchObject({ status: 200 })
    expect(await add(400, 900)).toMatchObject({ status: 200 })
    const full = {
      status: 429,
      body: {
        error: {
          status: 'RESOURCE_EXHAUSTED',
          message: 'A backend can add at most 1000 users to the presence of a document.',
        },
      },
    }
    expect(await add(900, 1_001)).toMatchObject(full)
    expect(await present(tenant)).toHaveLength(900)
    expect(await add(900, 1_000)).toMatchObject({ status: 200 })
    expect(await add(999, 1_001)).toMatchObject(full)
    expect(await add(500, 1_000)).toMatchObject({ status: 200 })
    await tenant.client.presence.delete({ ...documentRef, userIds: ['u0'] })
    expect(await add(1_000, 1_001)).toMatchObject({ status: 200 })
    expect(await present(tenant)).toHaveLength(1_000)
  })

  test('[4.10] v1 has no presence operations', async () => {
    const tenant = await given.tenant(server)
    const data = { ...documentRef, users: [{ userId: 'u1' }], userIds: ['u1'] }
    for (const verb of ['add', 'update', 'delete']) {
      expect(await server.post(`/v1/presence/${verb}`, { data }, tenant.headers)).toMatchObject({
        status: 404,
      })
    }
  })
})
