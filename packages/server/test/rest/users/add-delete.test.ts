import { describe, expect, test } from 'vitest'
import { seed } from '../../support/data/large-data.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'

const refused = (message: string) => ({ status: 'INVALID_ARGUMENT', message })

describe.each(stores)('users.add and users.delete on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const id = expect.stringMatching(/^[0-9a-f]{32}$/)
  const added = { success: true, id, message: 'User added.' }
  const updated = { success: true, id, message: 'User updated.' }
  const removed = { success: true, message: 'User removed.' }
  const unknown = { success: false, message: 'User does not exist.' }

  type Level = { organizationId?: string; documentId?: string; folderId?: string }

  const idsAt = async ({ client }: given.Tenant, level: Level = {}) => {
    const { data } = await client.users.get({ organizationId, ...level })
    return (data as { userId: string }[]).map((user) => user.userId)
  }
  const roleOf = async ({ client }: given.Tenant, userId: string, level: Level = {}) => {
    const { data } = await client.users.get({ organizationId, ...level, userIds: [userId] })
    return (data as { accessRole?: string }[])[0]?.accessRole
  }

  test('[12.1] add returns a result for each user and creates the organization', async () => {
    const { client } = await given.tenant(server)
    const users = [
      { userId: 'u1', name: 'Ada', email: 'Ada@Example.com', plan: 'pro', custom: { a: [1] } },
      { userId: 'u2' },
    ]
    expect(await client.users.add({ organizationId, users })).toEqual({
      message: 'User(s) processed successfully.',
      data: { u1: added, u2: added },
    })
    expect((await client.organizations.get()).data).toMatchObject([{ id: organizationId }])
    expect((await client.users.get({ organizationId, userIds: ['u1'] })).data).toEqual([
      {
        userId: 'u1',
        name: 'Ada',
        email: 'Ada@Example.com',
        plan: 'pro',
        custom: { a: [1] },
        initial: 'A',
        color: expect.stringMatching(/^#/),
        accessRole: 'editor',
      },
    ])
  })

  test('[12.1] add merges an existing user and keeps the role if none is sent', async () => {
    const tenant = await given.tenant(server)
    const add = (user: object) =>
      tenant.client.users.add({ organizationId, users: [{ userId: 'u1', ...user }] })
    await add({ name: 'Ada', team: 'x', accessRole: 'viewer' })
    expect((await add({ email: 'a@example.com', team: null })).data).toEqual({ u1: updated })
    const { data } = await tenant.client.users.get({ organizationId })
    expect(data).toMatchObject([{ name: 'Ada', email: 'a@example.com', accessRole: 'viewer' }])
    expect(data).not.toHaveProperty('[0].team')
    await add({ accessRole: 'editor' })
    expect(await roleOf(tenant, 'u1')).toBe('editor')
  })

  test('[12.1] [0.4.2] the first entry of a repeated user wins', async () => {
    const { client } = await given.tenant(server)
    const users = [
      { userId: 'u1', name: 'First' },
      { userId: 'u1', name: 'Second' },
    ]
    expect((await client.users.add({ organizationId, users })).data).toEqual({ u1: added })
    expect((await client.users.get({ organizationId })).data).toMatchObject([{ name: 'First' }])
  })

  test('[12.1] add with a document or folder adds the user there, not to the organization', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'], { documentId: 'd1' })
    await given.users(tenant, ['u2'], { folderId: 'f1' })
    expect(await idsAt(tenant)).toEqual([])
    expect(await idsAt(tenant, { documentId: 'd1' })).toEqual(['u1'])
    expect(await idsAt(tenant, { folderId: 'f1' })).toEqual(['u2'])
    expect((await tenant.client.users.add({ organizationId, users: [{ userId: 'u1' }] })).data).toEqual({
      u1: added,
    })
  })

  test('[12.1] [0.8] createDocument and createFolder create a missing document or folder, except under v1', async () => {
    const { client } = await given.tenant(server)
    const users = [{ userId: 'u1' }]
    for (const level of [{ documentId: 'd1' }, { folderId: 'f1' }]) {
      const message = 'documentId' in level ? 'Document does not exist.' : 'Folder does not exist.'
      const call = { organizationId, ...level, users }
      await expect(client.users.add(call)).rejects.toMatchObject(refused(message))
      await expect(
        client.users.add({ ...call, createDocument: true, createFolder: true }, { version: 'v1' }),
      ).rejects.toMatchObject(refused(message))
      expect((await client.organizations.get({ organizationIds: [organizationId] })).data.length).toBe(
        'documentId' in level ? 0 : 1,
      )
      const created = await client.users.add({ ...call, createDocument: true, createFolder: true })
      expect(created.data).toEqual({ u1: added })
      expect((await client.users.add(call, { version: 'v1' })).data).toEqual({ u1: updated })
    }
    expect((await client.documents.get({ organizationId })).data).toMatchObject([{ id: 'd1' }])
    expect((await client.folders.get({ organizationId })).data).toMatchObject([
      { folderId: 'f1', folderName: 'f1', parentFolderId: 'root' },
    ])
  })

  test('[12.1] add refuses root as a folder', async () => {
    const { client } = await given.tenant(server)
    const call = { organizationId, folderId: 'root', createFolder: true, users: [{ userId: 'u1' }] }
    await expect(client.users.add(call)).rejects.toMatchObject(refused('Folder does not exist.'))
  })

  test('[12.1] createOrganization false refuses an unknown organization, except under v1', async () => {
    const { client } = await given.tenant(server)
    const call = { organizationId, createOrganization: false, users: [{ userId: 'u1' }] }
    await expect(client.users.add(call)).rejects.toMatchObject(refused('Organization does not exist.'))
    expect((await client.organizations.get()).data).toEqual([])
    expect((await client.users.add(call, { version: 'v1' })).data).toEqual({ u1: added })
    expect((await client.users.add(call)).data).toEqual({ u1: updated })
  })

  test('[12.1] v1 add ignores accessRole for new and existing users', async () => {
    const tenant = await given.tenant(server)
    const add = (accessRole: 'viewer' | 'editor', version: 'v1' | 'v2') =>
      tenant.client.users.add({ organizationId, users: [{ userId: 'u1', accessRole }] }, { version })
    await add('viewer', 'v1')
    expect(await roleOf(tenant, 'u1')).toBe('editor')
    await add('viewer', 'v2')
    await add('editor', 'v1')
    expect(await roleOf(tenant, 'u1')).toBe('viewer')
  })

  test('[12.1] adding a user again keeps the expiry of the membership, and creates a new membership after the old one expired', async () => {
    const tenant = await given.tenant(server)
    const grant = (expiresAt: number) =>
      tenant.client.permissions.add({
        user: { userId: 'u1' },
        permissions: { resources: [{ type: 'organization', id: organizationId, expiresAt }] },
      })
    const add = async () =>
      (await tenant.client.users.add({ organizationId, users: [{ userId: 'u1' }] })).data
    await grant(Math.floor(Date.now() / 1000) + 3600)
    expect(await add()).toEqual({ u1: updated })
    server.clock.offsetMs = 2 * 3_600_000
    try {
      expect(await idsAt(tenant)).toEqual([])
      expect(await add()).toEqual({ u1: added })
      expect(await idsAt(tenant)).toEqual(['u1'])
    } finally {
      server.clock.offsetMs = 0
    }
    expect(await idsAt(tenant)).toEqual(['u1'])
  })

  test('[12.1] add refuses documentId together with folderId and creates nothing', async () => {
    const { client } = await given.tenant(server)
    const call = {
      organizationId,
      documentId: 'd1',
      folderId: 'f1',
      createDocument: true,
      users: [{ userId: 'u1' }],
    }
    await expect(client.users.add(call)).rejects.toMatchObject(
      refused('Provide either documentId or folderId.'),
    )
    expect((await client.organizations.get()).data).toEqual([])
  })

  test.each([
    [{ users: [{ userId: 'u1' }] }, 'organizationId is required.'],
    [
      { organizationId, createOrganization: 'yes', users: [{ userId: 'u1' }] },
      'createOrganization must be a boolean.',
    ],
    [{ organizationId, users: [] }, 'users must not be empty.'],
    [
      { organizationId, users: Array.from({ length: 501 }, (_, n) => ({ userId: `u${n}` })) },
      'users must have at most 500 items.',
    ],
    [
      { organizationId, users: [{ userId: 'a\nb' }] },
      'users[0].userId must not contain control characters and must not be "." or "..".',
    ],
    [
      { organizationId, users: [{ userId: 'u1', isGuest: 'yes' }] },
      'users[0].isGuest must be a boolean or null.',
    ],
  ])('[12.1] [0.3] add refuses an invalid body (%#)', async (data, message) => {
    const tenant = await given.tenant(server)
    expect(await server.post('/v2/users/add', { data }, tenant.headers)).toMatchObject({
      status: 400,
      body: { error: refused(message) },
    })
    expect((await tenant.client.organizations.get()).data).toEqual([])
  })

  test('[22.1] a profile field sent as null is not stored', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.users.add({
      organizationId,
      users: [{ userId: 'u1', name: null, email: null, photoUrl: null, x: null }],
    })
    expect((await tenant.client.users.get({ organizationId })).data).toEqual([
      {
        userId: 'u1',
        name: expect.stringMatching(/^User /),
        initial: 'U',
        color: expect.any(String),
        accessRole: 'editor',
      },
    ])
  })

  test('[12.4] delete returns a result without an id field for each user', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u3'])
    expect(await tenant.client.users.delete({ organizationId, userIds: ['u1', 'u2', 'u1'] })).toEqual({
      message: 'User(s) deleted successfully.',
      data: { u1: removed, u2: unknown },
    })
    expect(await idsAt(tenant)).toEqual(['u3'])
    const again = await tenant.client.users.delete({ organizationId, userIds: ['u1'] }, { version: 'v1' })
    expect(again.data).toEqual({ u1: unknown })
  })

  test('[12.4] deleting a user from an organization removes the grants and group memberships inside it, and no others', async () => {
    const tenant = await given.tenant(server)
    const inside = [{}, { documentId: 'd1' }, { folderId: 'f1' }]
    const outside = [{ organizationId: 'org_2' }, { organizationId: 'org_2', documentId: 'd1' }]
    for (const level of [...inside, ...outside]) await given.users(tenant, ['u1', 'u2'], level)
    await tenant.client.userGroups.add({
      organizationId,
      organizationUserGroups: [{ groupId: 'g1', groupName: 'G' }],
    })
    const group = { organizationId, organizationUserGroupId: 'g1' }
    await tenant.client.userGroups.addUsers({ ...group, userIds: ['u1', 'u2'] })

    await tenant.client.users.delete({ organizationId, userIds: ['u1'] })
    for (const level of inside) expect(await idsAt(tenant, level)).toEqual(['u2'])
    for (const level of outside) expect(await idsAt(tenant, level)).toEqual(['u1', 'u2'])
    const left = await tenant.client.userGroups.deleteUsers({ ...group, deleteAll: true })
    expect(Object.keys(left.data)).toEqual(['u2'])
  })

  test('[12.4] a user removed from a document or folder keeps all other access', async () => {
    const tenant = await given.tenant(server)
    const levels = [{}, { documentId: 'd1' }, { documentId: 'd2' }, { folderId: 'f1' }]
    for (const level of levels) await given.users(tenant, ['u1'], level)
    for (const level of [{ documentId: 'd1' }, { folderId: 'f1' }]) {
      const { data } = await tenant.client.users.delete({ organizationId, ...level, userIds: ['u1', 'u2'] })
      expect(data).toEqual({ u1: removed, u2: unknown })
    }
    expect(await Promise.all(levels.map((level) => idsAt(tenant, level)))).toEqual([['u1'], [], ['u1'], []])
  })

  test('[12.4] deleting from an organization does not find a user who has only a grant on a document, and keeps that grant', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'], { documentId: 'd1' })
    expect((await tenant.client.users.delete({ organizationId, userIds: ['u1'] })).data).toEqual({
      u1: unknown,
    })
    expect(await idsAt(tenant, { documentId: 'd1' })).toEqual(['u1'])
  })

  test('[12.4] delete removes the profile with the last organization of the user, not earlier', async () => {
    const tenant = await given.tenant(server)
    const levels = [{ organizationId }, { organizationId: 'org_2' }]
    for (const level of levels) {
      await tenant.client.users.add({ ...level, users: [{ userId: 'u1', name: 'Ada', team: 'x' }] })
    }
    const usersAfterReturn = async () => {
      await tenant.client.users.delete({ organizationId, userIds: ['u1'] })
      await given.users(tenant, ['u1'])
      return (await tenant.client.users.get({ organizationId })).data
    }
    expect(await usersAfterReturn()).toMatchObject([{ name: 'Ada', team: 'x' }])
    await tenant.client.users.delete({ organizationId: 'org_2', userIds: ['u1'] })
    const [forgotten] = (await usersAfterReturn()) as { name: string }[]
    expect(forgotten).toMatchObject({ name: expect.stringMatching(/^User /) })
    expect(forgotten).not.toHaveProperty('team')
  })

  test.each(['few', 'many'])(
    '[12.4.1] a user who was removed from the organization and added again has an empty inbox, also with %s notifications',
    async (amount) => {
      const tenant = await given.tenant(server)
      const { client } = tenant
      const documentId = 'd1'
      await given.users(tenant, ['u1', 'u2'])
      await client.users.update({ organizationId, users: [{ userId: 'u1', email: 'Ada@example.com' }] })
      await client.documents.add({ organizationId, documents: [{ documentId }] })
      const notify = (notifyUsers: { userId?: string; email?: string }[]) =>
        client.notifications.add({
          organizationId,
          documentId,
          actionUser: { userId: 'u2' },
          displayHeadlineMessageTemplate: 'Old',
          displayBodyMessage: 'Old',
          notifyAll: false,
          notifyUsers,
        })
      await notify([{ userId: 'u1' }])
      await notify([{ userId: 'u1' }, { userId: 'u2' }])
      await notify([{ email: 'ada@example.com' }])
      const more = amount === 'few' ? 0 : 600
      if (more > 0) {
        // More than one transaction removes.
        const data = seed(server.database, tenant.apiKey, organizationId)
        await data.notifications(more, 1)
        await data.inbox(more, 'u1')
      }
      const inbox = async (userId: string) =>
        (await client.notifications.get({ organizationId, userId })).data.length
      expect(await inbox('u1')).toBe(3 + more)

      // A call that does not remove the user keeps the inbox.
      expect((await client.users.delete({ organizationId, documentId: 'd1', userIds: ['u1'] })).data).toEqual(
        {
          u1: unknown,
        },
      )
      expect(await inbox('u1')).toBeGreaterThan(0)

      await client.users.delete({ organizationId, userIds: ['u1'] })
      await client.users.add({ organizationId, users: [{ userId: 'u1', email: 'ada@example.com' }] })
      expect([await inbox('u1'), await inbox('u2')]).toEqual([0, 1])
      await notify([{ userId: 'u1' }])
      expect(await inbox('u1')).toBe(1)
    },
  )

  test('[12.4] a user removed from a document keeps the profile', async () => {
    const tenant = await given.tenant(server)
    const level = { organizationId, documentId: 'd1', createDocument: true }
    await tenant.client.users.add({ ...level, users: [{ userId: 'u1', name: 'Ada' }] })
    await tenant.client.users.delete({ organizationId, documentId: 'd1', userIds: ['u1'] })
    await given.users(tenant, ['u1'])
    expect((await tenant.client.users.get({ organizationId })).data).toMatchObject([{ name: 'Ada' }])
  })

  test('[12.4] delete refuses documentId together with folderId', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    await expect(
      tenant.client.users.delete({ organizationId, documentId: 'd1', folderId: 'f1', userIds: ['u1'] }),
    ).rejects.toMatchObject(refused('Provide either documentId or folderId.'))
    expect(await idsAt(tenant)).toEqual(['u1'])
  })

  test.each([
    [{ userIds: ['u1'] }, 'organizationId is required.'],
    [{ organizationId }, 'userIds is required.'],
    [{ organizationId, userIds: [] }, 'userIds must not be empty.'],
    [
      { organizationId, userIds: Array.from({ length: 501 }, (_, n) => `u${n}`) },
      'userIds must have at most 500 items.',
    ],
    [{ organizationId, userIds: [''] }, 'userIds[0] is required.'],
  ])('[12.4] [0.3] delete refuses an invalid body (%#)', async (data, message) => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    expect(await server.post('/v1/users/delete', { data }, tenant.headers)).toMatchObject({
      status: 400,
      body: { error: refused(message) },
    })
    expect(await idsAt(tenant)).toEqual(['u1'])
  })

  test('[0.2.1] another API key can neither read nor remove the users', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    await given.users(one, ['u1'])
    await given.users(other, ['u2'])
    expect((await other.client.users.delete({ organizationId, userIds: ['u1'] })).data).toEqual({
      u1: unknown,
    })
    expect(await idsAt(one)).toEqual(['u1'])
    expect(await idsAt(other)).toEqual(['u2'])
    await given.users(other, ['u1'])
    await other.client.users.delete({ organizationId, userIds: ['u1'] })
    expect(await idsAt(one)).toEqual(['u1'])
  })

  test('[8.4] deleting the organization deletes its users', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1'])
    await given.users(tenant, ['u1'], { documentId: 'd1' })
    await tenant.client.organizations.delete({ organizationIds: [organizationId] })
    expect(await idsAt(tenant)).toEqual([])
    expect(await idsAt(tenant, { documentId: 'd1' })).toEqual([])
  })
})
