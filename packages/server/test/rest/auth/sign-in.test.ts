import { describe, expect, test } from 'vitest'
import type { PermissionResource } from '@plenum/protocol'
import { evaluateAccess } from '../../../src/access/sessions/session-access.ts'
import { ensureDocument, signIn } from '../../../src/access/sessions/sign-in.ts'
import { createUserTokens } from '../../../src/access/tokens/user-tokens.ts'
import * as apiKeys from '../../../src/store/api-keys.ts'
import type { Database } from '../../../src/store/engine/db.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { grant } from '../../support/permission-scenes.ts'
import { ada } from '../../support/token-scenes.ts'

const organization = (id: string, differs: Partial<PermissionResource> = {}): PermissionResource => ({
  type: 'organization',
  id,
  ...differs,
})

describe.each(stores)('sign-in on %s', (store) => {
  const server = useServer(store)
  const now = () => Date.now() + server.clock.offsetMs
  const inSeconds = (seconds: number) => Math.floor(now() / 1000) + seconds

  /** The database as sign-in sees it, and how often it was written. */
  function watched() {
    const state = { writes: 0 }
    const database: Database = Object.create(server.database, {
      write: {
        value: (work: Parameters<Database['write']>[0]) => {
          state.writes++
          return server.database.write(work)
        },
      },
    })
    return { state, database }
  }

  const keyOf = async ({ apiKey }: given.Tenant) => {
    const found = await apiKeys.find(server.database.read, apiKey)
    if (!found) throw new Error('There is no such key.')
    return found.key
  }

  /** A user with a token that was issued and verified. */
  async function userOf(
    { client }: given.Tenant,
    resources: PermissionResource[] = [],
    { userId = 'u1', properties = {} }: { userId?: string; properties?: Record<string, unknown> } = {},
  ) {
    const userProperties = { ...ada, ...properties }
    const { data } = await client.auth.generateToken({ userId, userProperties, permissions: { resources } })
    return createUserTokens(server.database, server.secrets).verify(data.token, now())
  }

  type User = Awaited<ReturnType<typeof userOf>>
  const enter = async (tenant: given.Tenant, user: User, database = server.database) =>
    (await signIn(database, await keyOf(tenant), user, now())).isNewMember

  const organizationsOf = async ({ client }: given.Tenant) =>
    (await client.organizations.get()).data.map(({ id }) => id)
  const membersOf = async ({ client }: given.Tenant, organizationId: string) =>
    (await client.users.get({ organizationId })).data as { userId: string; accessRole?: string }[]
  const profileOf = async (tenant: given.Tenant) => (await membersOf(tenant, 'o1'))[0]

  test('[7.1.4] organizations of the token exist afterwards, and [25.7] the user is a member of them', async () => {
    const tenant = await given.tenant(server)
    const resources = [
      organization('o2', { accessRole: 'viewer' }),
      organization('o1'),
      { type: 'document', id: 'd1', organizationId: 'o3' } as const,
    ]
    expect(await enter(tenant, await userOf(tenant, resources))).toBe(true)
    expect((await organizationsOf(tenant)).sort()).toEqual(['o1', 'o2'])
    expect(await membersOf(tenant, 'o1')).toEqual([
      { userId: 'u1', ...ada, accessRole: 'editor', initial: 'A', color: expect.any(String) },
    ])
    expect(await membersOf(tenant, 'o2')).toMatchObject([{ userId: 'u1', accessRole: 'viewer' }])
  })

  test('[25.7] without requireAutoOrgUser nobody becomes a member', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.apiKeyConfig.update({ requireAutoOrgUser: false })
    expect(await enter(tenant, await userOf(tenant, [organization('o1')]))).toBe(false)
    expect(await organizationsOf(tenant)).toEqual(['o1'])
    expect(await membersOf(tenant, 'o1')).toEqual([])
    // The profile is there all the same.
    await given.users(tenant, ['u1'], { organizationId: 'o1' })
    expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', ...ada }])
  })

  test('[25.7] a member keeps role and expiry, whatever the token says', async () => {
    const tenant = await given.tenant(server)
    await grant(tenant.client, 'u1', organization('o1', { accessRole: 'viewer', expiresAt: inSeconds(60) }))
    expect(await enter(tenant, await userOf(tenant, [organization('o1')]))).toBe(false)
    expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'viewer' }])
    const user = await userOf(tenant, [organization('o1', { expiresAt: inSeconds(600) })])
    try {
      server.clock.offsetMs = 60_000
      expect(await membersOf(tenant, 'o1')).toEqual([])
      // That membership is over: the token gives another one, as long as its own.
      expect(await enter(tenant, user)).toBe(true)
      expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
      server.clock.offsetMs = 601_000
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] a membership that was removed is not restored by older tokens, but by a newer one', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const resources = [organization('o1'), organization('o2')]
    const older = await userOf(tenant, resources)
    await enter(tenant, older)
    try {
      server.clock.offsetMs = 5000
      await client.permissions.remove({ userId: 'u1', permissions: { resources: [organization('o1')] } })
      await client.users.delete({ organizationId: 'o2', userIds: ['u1'] })
      const { state, database } = watched()
      await enter(tenant, older, database)
      expect(await membersOf(tenant, 'o1')).toEqual([])
      expect(await membersOf(tenant, 'o2')).toEqual([])
      const writes = state.writes
      expect(await enter(tenant, older, database)).toBe(false)
      expect(state.writes).toBe(writes)
      server.clock.offsetMs = 5001
      expect(await enter(tenant, await userOf(tenant, resources))).toBe(true)
      expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
      expect(await membersOf(tenant, 'o2')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] one that was given for a time and is over is not restored by older tokens either', async () => {
    const tenant = await given.tenant(server)
    const older = await userOf(tenant, [organization('o1')])
    try {
      server.clock.offsetMs = 5000
      await grant(tenant.client, 'u1', organization('o1', { expiresAt: inSeconds(60) }))
      server.clock.offsetMs = 70_000
      expect(await enter(tenant, older)).toBe(false)
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] [25.3.4] an organization that is gone is not made again by those who were removed from it', async () => {
    const tenant = await given.tenant(server)
    const removed = await userOf(tenant, [organization('o1')])
    const stays = await userOf(tenant, [organization('o1')], { userId: 'u2' })
    await enter(tenant, removed)
    try {
      server.clock.offsetMs = 5000
      await tenant.client.users.delete({ organizationId: 'o1', userIds: ['u1'] })
      await tenant.client.organizations.delete({ organizationIds: ['o1'] })
      await enter(tenant, removed)
      expect(await organizationsOf(tenant)).toEqual([])
      await enter(tenant, stays)
      expect(await organizationsOf(tenant)).toEqual(['o1'])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.3.3] the membership is as old as the token: it does not count against one that is newer', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    const older = await userOf(tenant, [organization('o1', { accessRole: 'viewer' })])
    try {
      server.clock.offsetMs = 1000
      const newer = await userOf(tenant, [organization('o1')])
      server.clock.offsetMs = 2000
      expect(await enter(tenant, older)).toBe(true)
      const roles = async () => {
        const key = await keyOf(tenant)
        const decisions = await evaluateAccess(
          server.database.read,
          key,
          'o1',
          'd1',
          [older, newer],
          inSeconds(0),
        )
        return decisions.map((one) => (one.allowed ? one.accessRole : one.reason))
      }
      expect(await roles()).toEqual(['viewer', 'editor'])
      await grant(client, 'u1', organization('o1', { accessRole: 'viewer' }))
      expect(await roles()).toEqual(['viewer', 'viewer'])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] removals and sign-ins at once never leave a member who was removed', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 20 }, (_, n) => `u${n}`)
    const users = await Promise.all(userIds.map((userId) => userOf(tenant, [organization('o1')], { userId })))
    try {
      server.clock.offsetMs = 1000
      await Promise.all([
        ...users.map((user) => enter(tenant, user)),
        ...userIds.map((userId) => tenant.client.users.delete({ organizationId: 'o1', userIds: [userId] })),
        ...users.map((user) => enter(tenant, user)),
      ])
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.8] an organization of the token whose time is over is not entered', async () => {
    const tenant = await given.tenant(server)
    const user = await userOf(tenant, [organization('o1', { expiresAt: inSeconds(-1) })])
    expect(await enter(tenant, user)).toBe(false)
    expect(await organizationsOf(tenant)).toEqual([])
  })

  describe('the profile', () => {
    test('[7.1.4] gets what the token says of how the user is shown, and keeps the rest', async () => {
      const tenant = await given.tenant(server)
      await tenant.client.users.add({
        organizationId: 'o1',
        users: [{ userId: 'u1', name: 'Old', plan: 'gold', color: '#123456', department: 'Analysis' }],
      })
      const properties = {
        photoUrl: 'https://example.com/ada.png',
        isAdmin: true,
        claim: { of: 'mine' },
        plan: 7,
      }
      expect(await enter(tenant, await userOf(tenant, [], { properties }))).toBe(false)
      expect(await profileOf(tenant)).toEqual({
        userId: 'u1',
        ...ada,
        photoUrl: 'https://example.com/ada.png',
        plan: 'gold',
        color: '#123456',
        department: 'Analysis',
        initial: 'A',
        accessRole: 'editor',
      })
    })

    test('[7.1.4] is not set back by a token that is older than its last change', async () => {
      const tenant = await given.tenant(server)
      const user = await userOf(tenant, [organization('o1')], { properties: { initial: 'X' } })
      await enter(tenant, user)
      try {
        server.clock.offsetMs = 5000
        await tenant.client.users.update({
          organizationId: 'o1',
          users: [{ userId: 'u1', name: 'Ada King', initial: null }],
        })
        await enter(tenant, user)
        expect(await profileOf(tenant)).toMatchObject({ name: 'Ada King', initial: 'X' })
        server.clock.offsetMs = 10_000
        await enter(tenant, await userOf(tenant, [organization('o1')], { properties: { name: 'Countess' } }))
        expect(await profileOf(tenant)).toMatchObject({ name: 'Countess' })
        await enter(tenant, user)
        expect(await profileOf(tenant)).toMatchObject({ name: 'Countess' })
      } finally {
        server.clock.offsetMs = 0
      }
    })

    test('[7.1.4] of a stub is filled, also by a token that is older than the stub', async () => {
      const tenant = await given.tenant(server)
      const user = await userOf(tenant, [organization('o1')])
      try {
        server.clock.offsetMs = 5000
        await tenant.client.presence.add({
          organizationId: 'o1',
          documentId: 'd1',
          users: [{ userId: 'u1' }],
        })
        await enter(tenant, user)
        expect(await profileOf(tenant)).toMatchObject(ada)
      } finally {
        server.clock.offsetMs = 0
      }
    })

    test('[7.1.4] does not take what does not fit it', async () => {
      const tenant = await given.tenant(server)
      const properties = { photoUrl: 'x'.repeat(2001), initial: ['A'], color: ' ', textColor: null }
      await enter(tenant, await userOf(tenant, [organization('o1')], { properties }))
      expect(await profileOf(tenant)).toEqual({
        userId: 'u1',
        ...ada,
        accessRole: 'editor',
        initial: 'A',
        color: expect.stringMatching(/^#/),
      })
    })
  })

  test('[7.1.4] coming back writes nothing', async () => {
    const tenant = await given.tenant(server)
    const resources = Array.from({ length: 500 }, (_, index) => organization(`o${index}`))
    const user = await userOf(tenant, resources)
    const { state, database } = watched()
    expect(await enter(tenant, user, database)).toBe(true)
    expect(state.writes).toBe(1)
    for (let times = 0; times < 20; times++) expect(await enter(tenant, user, database)).toBe(false)
    const again = await userOf(tenant, resources)
    expect(await enter(tenant, again, database)).toBe(false)
    expect(state.writes).toBe(1)
  })

  test('[7.1.4] many may come at once, one user often and several for the first time', async () => {
    const tenant = await given.tenant(server)
    const resources = ['o3', 'o1', 'o2'].map((id) => organization(id))
    const userIds = ['u1', 'u2', 'u3', 'u4', 'u5']
    const users = await Promise.all(
      userIds.map((userId, index) =>
        userOf(tenant, index % 2 ? resources : resources.toReversed(), { userId }),
      ),
    )
    const entered = await Promise.all(users.flatMap((user) => [1, 2, 3, 4].map(() => enter(tenant, user))))
    expect(entered.filter(Boolean)).toHaveLength(5)
    for (const id of ['o1', 'o2', 'o3']) {
      expect((await membersOf(tenant, id)).map(({ userId }) => userId).sort()).toEqual(userIds)
    }
  })

  test('[P13] signing in to one key leaves no trace in another', async () => {
    const tenant = await given.tenant(server)
    const other = await given.tenant(server)
    await enter(tenant, await userOf(tenant, [organization('o1')]))
    expect(await organizationsOf(other)).toEqual([])
    expect(await membersOf(other, 'o1')).toEqual([])
  })

  describe('opening a document', () => {
    const documentsOf = async ({ client }: given.Tenant) =>
      (await client.documents.get({ organizationId: 'o1' })).data

    test('[0.8.1] creates it with its organization, once', async () => {
      const tenant = await given.tenant(server)
      const key = await keyOf(tenant)
      const { state, database } = watched()
      await ensureDocument(database, key, 'o1', 'd1', now())
      expect(await organizationsOf(tenant)).toEqual(['o1'])
      expect(await documentsOf(tenant)).toMatchObject([{ id: 'd1', disabled: false, accessType: 'public' }])
      for (let times = 0; times < 20; times++) await ensureDocument(database, key, 'o1', 'd1', now())
      expect(state.writes).toBe(1)
    })

    test('[0.8.1] leaves one that exists as it is', async () => {
      const tenant = await given.tenant(server)
      await given.organization(tenant, 'o1')
      await tenant.client.documents.add({
        organizationId: 'o1',
        documents: [{ documentId: 'd1', documentName: 'Plan', accessType: 'restricted' }],
      })
      const before = await documentsOf(tenant)
      await ensureDocument(server.database, await keyOf(tenant), 'o1', 'd1', now() + 1000)
      expect(await documentsOf(tenant)).toEqual(before)
    })

    test('[0.8.1] by many at once makes one', async () => {
      const tenant = await given.tenant(server)
      const key = await keyOf(tenant)
      const open = (documentId: string) => ensureDocument(server.database, key, 'o1', documentId, now())
      await Promise.all(['d1', 'd2', 'd3'].flatMap((id) => Array.from({ length: 10 }, () => open(id))))
      expect((await documentsOf(tenant)).map(({ id }) => id).sort()).toEqual(['d1', 'd2', 'd3'])
      expect(await organizationsOf(tenant)).toEqual(['o1'])
    })
  })
})
