import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'

const invalid = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})

describe.each(stores)('users.update on %s', (store) => {
  const server = useServer(store)
  const id = expect.stringMatching(/^[0-9a-f]{32}$/)
  const updated = { success: true, id, message: 'User updated.' }
  const unknown = { success: false, id, message: 'User does not exist.' }

  /** Returns the users of an organization or a document by id, as get returns them. */
  const read = async (
    { client }: given.Tenant,
    level: { organizationId?: string; documentId?: string } = {},
  ) => {
    const { data } = await client.users.get({ organizationId, ...level })
    return Object.fromEntries((data as { userId: string }[]).map((user) => [user.userId, user]))
  }

  test('[4.7] update returns a result for each user and success for the call when some users are missing', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const users = [
      { userId: 'u1', name: 'Ada', email: 'ada@example.com' },
      { userId: 'u2', name: 'Nobody' },
    ]
    expect(
      await server.post('/v1/users/update', { data: { organizationId, users } }, tenant.headers),
    ).toMatchObject({
      status: 200,
      body: {
        result: {
          status: 'success',
          message: 'User(s) processed successfully.',
          data: { u1: updated, u2: unknown },
        },
      },
    })
    expect(await read(tenant)).toEqual({
      u1: {
        userId: 'u1',
        name: 'Ada',
        email: 'ada@example.com',
        initial: 'A',
        color: expect.stringMatching(/^#[0-9a-f]{6}$/),
        accessRole: 'editor',
      },
    })
  })

  test('[4.7] [0.6.2] the id in a result is the same whether or not the user exists', async () => {
    const tenant = await given.tenant(server)
    const users = [{ userId: 'u1' }]
    const { data: before } = await tenant.client.users.update({ organizationId, users })
    const { data: added } = await tenant.client.users.add({ organizationId, users })
    const { data: after } = await tenant.client.users.update({ organizationId, users })
    expect([before.u1, after.u1]).toEqual([unknown, updated])
    expect(new Set([before.u1?.id, added.u1?.id, after.u1?.id]).size).toBe(1)
  })

  test('[4.7] update in an organization that does not exist finds no users and does not create the organization', async () => {
    const { client } = await given.tenant(server)
    const users = [{ userId: 'u1' }, { userId: 'u2' }]
    expect(await client.users.update({ organizationId, users })).toEqual({
      message: 'User(s) processed successfully.',
      data: { u1: unknown, u2: unknown },
    })
    expect((await client.organizations.get()).data).toEqual([])
  })

  test('[4.7] update with documentId finds only the users of that document', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2'])
    await given.users(tenant, ['u2', 'u3'], { documentId: 'd1' })
    const users = ['u1', 'u2', 'u3'].map((userId) => ({ userId, name: 'New' }))
    const { data } = await tenant.client.users.update({ organizationId, documentId: 'd1', users })
    expect(data).toEqual({ u1: unknown, u2: updated, u3: updated })
    expect(await read(tenant)).toMatchObject({
      u1: { name: expect.stringMatching(/^User /) },
      u2: { name: 'New' },
    })
  })

  test('[4.7] update with folderId finds only the users of that folder', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    await given.users(tenant, ['u2'], { folderId: 'f1' })
    const users = [{ userId: 'u1' }, { userId: 'u2' }]
    const { data } = await tenant.client.users.update({ organizationId, folderId: 'f1', users })
    expect(data).toEqual({ u1: unknown, u2: updated })
  })

  test('[4.7] update refuses documentId together with folderId and changes nothing', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const before = await read(tenant)
    const data = { organizationId, documentId: 'd1', folderId: 'f1', users: [{ userId: 'u1', name: 'New' }] }
    for (const version of ['v1', 'v2']) {
      expect(await server.post(`/${version}/users/update`, { data }, tenant.headers)).toMatchObject(
        invalid('Provide either documentId or folderId.'),
      )
    }
    expect(await read(tenant)).toEqual(before)
  })

  test('[12.3] update merges the sent fields, null removes a field, and custom fields are kept', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.users.add({
      organizationId,
      users: [
        {
          userId: 'u1',
          name: 'Ada',
          email: 'a@example.com',
          photoUrl: 'https://e.com/a.png',
          team: 'x',
          tags: [1],
        },
      ],
    })
    await tenant.client.users.update({
      organizationId,
      users: [
        { userId: 'u1', name: 'Grace', photoUrl: null, team: null, plan: 'pro', address: { city: 'Oslo' } },
      ],
    })
    expect(await read(tenant)).toEqual({
      u1: {
        userId: 'u1',
        name: 'Grace',
        email: 'a@example.com',
        tags: [1],
        plan: 'pro',
        address: { city: 'Oslo' },
        initial: 'G',
        color: expect.any(String),
        accessRole: 'editor',
      },
    })
  })

  test('[12.3] update changes the profile of the user in every organization', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    await given.users(tenant, ['u1'], { organizationId: 'org_2' })
    await given.users(tenant, ['u1'], { organizationId: 'org_2', documentId: 'd1' })
    await tenant.client.users.update({ organizationId, users: [{ userId: 'u1', name: 'Ada' }] })
    for (const level of [{ organizationId: 'org_2' }, { organizationId: 'org_2', documentId: 'd1' }]) {
      expect(await read(tenant, level)).toMatchObject({ u1: { name: 'Ada' } })
    }
  })

  test('[12.3] v2 update applies accessRole only to the organization, document or folder of the call', async () => {
    const tenant = await given.tenant(server)
    const levels = [{}, { documentId: 'd1' }, { organizationId: 'org_2' }]
    for (const level of levels) await given.users(tenant, ['u1', 'u2'], level)
    const { data } = await tenant.client.users.update({
      organizationId,
      documentId: 'd1',
      users: [
        { userId: 'u1', accessRole: 'viewer' },
        { userId: 'u2', accessRole: 'editor' },
      ],
    })
    expect(data).toEqual({ u1: updated, u2: updated })
    const roles = await Promise.all(
      levels.map(async (level) => Object.values(await read(tenant, level)).map((user) => user)),
    )
    expect(roles).toMatchObject([
      [{ accessRole: 'editor' }, { accessRole: 'editor' }],
      [{ accessRole: 'viewer' }, { accessRole: 'editor' }],
      [{ accessRole: 'editor' }, { accessRole: 'editor' }],
    ])
  })

  test('[12.3] v1 update ignores accessRole', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const users = [{ userId: 'u1', name: 'Ada', accessRole: 'viewer' as const }]
    await tenant.client.users.update({ organizationId, users }, { version: 'v1' })
    expect(await read(tenant)).toMatchObject({ u1: { name: 'Ada', accessRole: 'editor' } })
  })

  test('[4.7] [25.8] update does not find a user whose grant has expired', async () => {
    const tenant = await given.tenant(server)
    const grant = (userId: string, expiresAt: number) =>
      tenant.client.permissions.add({
        user: { userId },
        permissions: { resources: [{ type: 'organization', id: organizationId, expiresAt }] },
      })
    await grant('past', 1)
    await grant('future', Math.floor(Date.now() / 1000) + 3600)
    const users = [{ userId: 'past' }, { userId: 'future' }]
    const { data } = await tenant.client.users.update({ organizationId, users })
    expect(data).toEqual({ past: unknown, future: updated })
  })

  test('[12.1] update ignores fields that only the server sets', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const before = await read(tenant)
    const reserved = {
      organizationId: 'org_9',
      isAdmin: true,
      type: 'owner',
      contacts: [{ userId: 'u2' }],
      name_lowercase: 'x',
      email_lowercase: 'x',
      clientUserName: 'x',
    }
    const data = { organizationId, users: [{ ...reserved, userId: 'u1', accessRole: 'editor' }] }
    const sent = JSON.stringify({ data }).replace('"type"', '"__proto__":{"isAdmin":true},"type"')
    const { status } = await server.post('/v2/users/update', sent, tenant.headers)
    expect(status).toBe(200)
    expect(await read(tenant)).toEqual(before)
  })

  test('[12.2] the generated name, initial and color are the same in every read, and the initial follows a new name', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const [first, second] = [await read(tenant), await read(tenant)]
    expect(first).toEqual(second)
    expect(first.u1).toMatchObject({ name: expect.stringMatching(/^User [0-9A-F]{4}$/), initial: 'U' })
    const rename = (fields: object) =>
      tenant.client.users.update({ organizationId, users: [{ userId: 'u1', ...fields }] })
    await rename({ name: '(östen)' })
    expect(await read(tenant)).toEqual({ u1: { ...first.u1, name: '(östen)', initial: 'Ö' } })
    await rename({ name: '🦊', color: '#123456' })
    expect(await read(tenant)).toEqual({ u1: { ...first.u1, name: '🦊', initial: '🦊', color: '#123456' } })
    await rename({ initial: 'Fx', color: null })
    expect(await read(tenant)).toEqual({ u1: { ...first.u1, name: '🦊', initial: 'Fx' } })
  })

  test('[0.4.2] the first entry of a repeated user wins', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const users = [
      { userId: 'u1', name: 'First' },
      { userId: 'u1', name: 'Second' },
    ]
    const { data } = await tenant.client.users.update({ organizationId, users })
    expect(data).toEqual({ u1: updated })
    expect(await read(tenant)).toMatchObject({ u1: { name: 'First' } })
  })

  test('[0.7.5] update accepts at most 500 users in one call', async () => {
    const tenant = await given.tenant(server)
    const users = Array.from({ length: 501 }, (_, index) => ({ userId: `u${index}`, name: `Name ${index}` }))
    const most = users.slice(0, 500)
    await given.users(
      tenant,
      most.map((user) => user.userId),
    )
    const { data } = await tenant.client.users.update({ organizationId, users: most })
    expect(Object.values(data)).toEqual(most.map(() => updated))
    expect(await read(tenant)).toMatchObject(Object.fromEntries(most.map((user) => [user.userId, user])))
    expect(
      await server.post('/v1/users/update', { data: { organizationId, users } }, tenant.headers),
    ).toMatchObject(invalid('users must have at most 500 items.'))
  })

  test('[12.3] concurrent updates lose none of their changes', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const fields = Array.from({ length: 6 }, (_, index) => [`field${index}`, index] as const)
    await Promise.all(
      fields.map(([field, value]) =>
        tenant.client.users.update({ organizationId, users: [{ userId: 'u1', [field]: value }] }),
      ),
    )
    expect(await read(tenant)).toMatchObject({ u1: Object.fromEntries(fields) })
  })

  test('[0.2.1] users with the same id under two API keys are separate', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    await one.client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Ada', one: 1 }] })
    await other.client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Grace', other: 1 }] })
    const [ada, grace] = [(await read(one)).u1, (await read(other)).u1]
    const update = ({ client }: given.Tenant) =>
      client.users.update({ organizationId, users: [{ userId: 'u1', team: 'x', accessRole: 'viewer' }] })
    await update(one)
    expect([await read(one), await read(other)]).toEqual([
      { u1: { ...ada, team: 'x', accessRole: 'viewer' } },
      { u1: grace },
    ])
    await update(other)
    expect(await read(other)).toEqual({ u1: { ...grace, team: 'x', accessRole: 'viewer' } })
  })

  test.each([
    [{ users: [{ userId: 'u1' }] }, 'organizationId is required.'],
    [{ organizationId: ' ', users: [{ userId: 'u1' }] }, 'organizationId is required.'],
    [{ organizationId }, 'users is required.'],
    [{ organizationId, users: [] }, 'users must not be empty.'],
    [{ organizationId, users: { userId: 'u1' } }, 'users must be an array.'],
    [{ organizationId, users: [{ name: 'Ada' }] }, 'users[0].userId is required.'],
    [{ organizationId, users: [{ userId: '' }] }, 'users[0].userId is required.'],
    [{ organizationId, users: [{ userId: 'u1' }, { userId: 7 }] }, 'users[1].userId must be a string.'],
    [{ organizationId, users: [{ userId: 'u1', name: 7 }] }, 'users[0].name must be a string or null.'],
    [
      { organizationId, users: [{ userId: 'u1', email: 'x'.repeat(321) }] },
      'users[0].email must have at most 320 characters.',
    ],
    [
      { organizationId, users: [{ userId: 'u1', accessRole: 'owner' }] },
      'users[0].accessRole must be one of: viewer, editor.',
    ],
    [{ organizationId, documentId: '', users: [{ userId: 'u1' }] }, 'documentId must not be empty.'],
  ])('[0.3] [0.3.1] update refuses %j: %s', async (data, message) => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    const before = await read(tenant)
    expect(await server.post('/v2/users/update', { data }, tenant.headers)).toMatchObject(invalid(message))
    expect(await read(tenant)).toEqual(before)
  })
})
