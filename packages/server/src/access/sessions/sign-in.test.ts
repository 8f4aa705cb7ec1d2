import { describe, expect, test } from 'vitest'
import type { PermissionResource } from '@plenum/protocol'
import { evaluateAccess } from './session-access.ts'
import { ensureDocument, signIn } from './sign-in.ts'
import { createUserTokens } from '../tokens/user-tokens.ts'
import * as apiKeys from '../../store/api-keys.ts'
import type { Database } from '../../store/engine/db.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { grant } from '../../../test/support/access/permission-scenes.ts'
import { ada } from '../../../test/support/access/token-scenes.ts'

const organization = (id: string, differs: Partial<PermissionResource> = {}): PermissionResource => ({
  type: 'organization',
  id,
  ...differs,
})

describe.each(stores)('sign-in on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const now = () => Date.now() + server.clock.offsetMs
  const inSeconds = (seconds: number) => Math.floor(now() / 1000) + seconds

  /** Returns the database with a counter of its writes. */
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
    if (!found) throw new Error('The API key does not exist.')
    return found.key
  }

  /** Issues a token and returns the user that its verification gives. */
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
  const signInUser = async (tenant: given.Tenant, user: User, database = server.database) =>
    (await signIn(database, await keyOf(tenant), user, now())).hasChangedAccess

  const organizationsOf = async ({ client }: given.Tenant) =>
    (await client.organizations.get()).data.map(({ id }) => id)
  const membersOf = async ({ client }: given.Tenant, organizationId: string) =>
    (await client.users.get({ organizationId })).data as { userId: string; accessRole?: string }[]
  const profileOf = async (tenant: given.Tenant) => (await membersOf(tenant, 'o1'))[0]

  test('[7.1.4] [25.7] sign-in creates the organizations among the resources of the token and makes the user a member of them', async () => {
    const tenant = await given.tenant(server)
    const resources = [
      organization('o2', { accessRole: 'viewer' }),
      organization('o1'),
      { type: 'document', id: 'd1', organizationId: 'o3' } as const,
    ]
    expect(await signInUser(tenant, await userOf(tenant, resources))).toBe(true)
    expect((await organizationsOf(tenant)).sort()).toEqual(['o1', 'o2'])
    expect(await membersOf(tenant, 'o1')).toEqual([
      { userId: 'u1', ...ada, accessRole: 'editor', initial: 'A', color: expect.any(String) },
    ])
    expect(await membersOf(tenant, 'o2')).toMatchObject([{ userId: 'u1', accessRole: 'viewer' }])
  })

  test('[25.7] sign-in makes no user a member when requireAutoOrgUser is off', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.apiKeyConfig.update({ requireAutoOrgUser: false })
    expect(await signInUser(tenant, await userOf(tenant, [organization('o1')]))).toBe(false)
    expect(await organizationsOf(tenant)).toEqual(['o1'])
    expect(await membersOf(tenant, 'o1')).toEqual([])
    // The profile is stored nevertheless.
    await given.users(tenant, ['u1'], { organizationId: 'o1' })
    expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', ...ada }])
  })

  test('[25.7] a member keeps the stored role and expiry regardless of the token, until the stored membership expires', async () => {
    const tenant = await given.tenant(server)
    await grant(tenant.client, 'u1', organization('o1', { accessRole: 'viewer', expiresAt: inSeconds(60) }))
    expect(await signInUser(tenant, await userOf(tenant, [organization('o1')]))).toBe(false)
    expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'viewer' }])
    const user = await userOf(tenant, [organization('o1', { expiresAt: inSeconds(600) })])
    try {
      server.clock.offsetMs = 60_000
      expect(await membersOf(tenant, 'o1')).toEqual([])
      // The stored membership has expired: sign-in creates a new one that expires with the token’s grant.
      expect(await signInUser(tenant, user)).toBe(true)
      expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
      server.clock.offsetMs = 601_000
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] a newer token restores a removed membership, and older tokens do not', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const resources = [organization('o1'), organization('o2')]
    const older = await userOf(tenant, resources)
    await signInUser(tenant, older)
    try {
      server.clock.offsetMs = 5000
      await client.permissions.remove({ userId: 'u1', permissions: { resources: [organization('o1')] } })
      await client.users.delete({ organizationId: 'o2', userIds: ['u1'] })
      const { state, database } = watched()
      await signInUser(tenant, older, database)
      expect(await membersOf(tenant, 'o1')).toEqual([])
      expect(await membersOf(tenant, 'o2')).toEqual([])
      const writes = state.writes
      expect(await signInUser(tenant, older, database)).toBe(false)
      expect(state.writes).toBe(writes)
      server.clock.offsetMs = 5001
      expect(await signInUser(tenant, await userOf(tenant, resources))).toBe(true)
      expect(await membersOf(tenant, 'o1')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
      expect(await membersOf(tenant, 'o2')).toMatchObject([{ userId: 'u1', accessRole: 'editor' }])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.3.2] [25.7.1] older tokens do not restore a membership that has expired', async () => {
    const tenant = await given.tenant(server)
    const older = await userOf(tenant, [organization('o1')])
    try {
      server.clock.offsetMs = 5000
      await grant(tenant.client, 'u1', organization('o1', { expiresAt: inSeconds(60) }))
      server.clock.offsetMs = 70_000
      expect(await signInUser(tenant, older)).toBe(false)
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.7.1] [25.3.4] a user removed from an organization does not recreate it after its deletion by signing in with a token from before the removal', async () => {
    const tenant = await given.tenant(server)
    const removed = await userOf(tenant, [organization('o1')])
    const stays = await userOf(tenant, [organization('o1')], { userId: 'u2' })
    await signInUser(tenant, removed)
    try {
      server.clock.offsetMs = 5000
      await tenant.client.users.delete({ organizationId: 'o1', userIds: ['u1'] })
      await tenant.client.organizations.delete({ organizationIds: ['o1'] })
      await signInUser(tenant, removed)
      expect(await organizationsOf(tenant)).toEqual([])
      await signInUser(tenant, stays)
      expect(await organizationsOf(tenant)).toEqual(['o1'])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.3.3] a membership from sign-in has the age of the token, so it does not override a newer token', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    const older = await userOf(tenant, [organization('o1', { accessRole: 'viewer' })])
    try {
      server.clock.offsetMs = 1000
      const newer = await userOf(tenant, [organization('o1', { accessRole: 'editor' })])
      server.clock.offsetMs = 2000
      expect(await signInUser(tenant, older)).toBe(true)
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

  test('[25.7.1] concurrent removals and sign-ins never leave a removed user as a member', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 20 }, (_, n) => `u${n}`)
    const users = await Promise.all(userIds.map((userId) => userOf(tenant, [organization('o1')], { userId })))
    try {
      server.clock.offsetMs = 1000
      await Promise.all([
        ...users.map((user) => signInUser(tenant, user)),
        ...userIds.map((userId) => tenant.client.users.delete({ organizationId: 'o1', userIds: [userId] })),
        ...users.map((user) => signInUser(tenant, user)),
      ])
      expect(await membersOf(tenant, 'o1')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[25.8] sign-in does not add a user to an organization whose grant in the token has expired', async () => {
    const tenant = await given.tenant(server)
    const user = await userOf(tenant, [organization('o1', { expiresAt: inSeconds(-1) })])
    expect(await signInUser(tenant, user)).toBe(false)
    expect(await organizationsOf(tenant)).toEqual([])
  })

  describe('the profile', () => {
    test('[7.1.4] sign-in copies the display fields of the token into the profile and keeps the other fields', async () => {
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
      expect(await signInUser(tenant, await userOf(tenant, [], { properties }))).toBe(false)
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

    test('[7.1.4] sign-in with a token older than the last profile change fills missing fields and overwrites none', async () => {
      const tenant = await given.tenant(server)
      const user = await userOf(tenant, [organization('o1')], { properties: { initial: 'X' } })
      await signInUser(tenant, user)
      try {
        server.clock.offsetMs = 5000
        await tenant.client.users.update({
          organizationId: 'o1',
          users: [{ userId: 'u1', name: 'Ada King', initial: null }],
        })
        await signInUser(tenant, user)
        expect(await profileOf(tenant)).toMatchObject({ name: 'Ada King', initial: 'X' })
        server.clock.offsetMs = 10_000
        await signInUser(
          tenant,
          await userOf(tenant, [organization('o1')], { properties: { name: 'Countess' } }),
        )
        expect(await profileOf(tenant)).toMatchObject({ name: 'Countess' })
        await signInUser(tenant, user)
        expect(await profileOf(tenant)).toMatchObject({ name: 'Countess' })
      } finally {
        server.clock.offsetMs = 0
      }
    })

    test('[7.1.4] sign-in fills the empty profile that Add Presence created, even with a token older than the profile', async () => {
      const tenant = await given.tenant(server)
      const user = await userOf(tenant, [organization('o1')])
      try {
        server.clock.offsetMs = 5000
        await tenant.client.presence.add({
          organizationId: 'o1',
          documentId: 'd1',
          users: [{ userId: 'u1' }],
        })
        await signInUser(tenant, user)
        expect(await profileOf(tenant)).toMatchObject(ada)
      } finally {
        server.clock.offsetMs = 0
      }
    })

    test('[7.1.4] sign-in ignores token properties that are invalid in a profile', async () => {
      const tenant = await given.tenant(server)
      const properties = { photoUrl: 'x'.repeat(2001), initial: ['A'], color: ' ', textColor: null }
      await signInUser(tenant, await userOf(tenant, [organization('o1')], { properties }))
      expect(await profileOf(tenant)).toEqual({
        userId: 'u1',
        ...ada,
        accessRole: 'editor',
        initial: 'A',
        color: expect.stringMatching(/^#/),
      })
    })
  })

  test('[7.1.4] a repeated sign-in writes nothing to the database', async () => {
    const tenant = await given.tenant(server)
    const resources = Array.from({ length: 500 }, (_, index) => organization(`o${index}`))
    const user = await userOf(tenant, resources)
    const { state, database } = watched()
    expect(await signInUser(tenant, user, database)).toBe(true)
    expect(state.writes).toBe(1)
    for (let times = 0; times < 20; times++) expect(await signInUser(tenant, user, database)).toBe(false)
    const again = await userOf(tenant, resources)
    expect(await signInUser(tenant, again, database)).toBe(false)
    expect(state.writes).toBe(1)
  })

  test('[7.1.4] concurrent sign-ins of one user and of several new users succeed', async () => {
    const tenant = await given.tenant(server)
    const resources = ['o3', 'o1', 'o2'].map((id) => organization(id))
    const userIds = ['u1', 'u2', 'u3', 'u4', 'u5']
    const users = await Promise.all(
      userIds.map((userId, index) =>
        userOf(tenant, index % 2 ? resources : resources.toReversed(), { userId }),
      ),
    )
    const results = await Promise.all(
      users.flatMap((user) => [1, 2, 3, 4].map(() => signInUser(tenant, user))),
    )
    expect(results.filter(Boolean)).toHaveLength(5)
    for (const id of ['o1', 'o2', 'o3']) {
      expect((await membersOf(tenant, id)).map(({ userId }) => userId).sort()).toEqual(userIds)
    }
  })

  test('[P13] signing in with one API key stores nothing under another', async () => {
    const tenant = await given.tenant(server)
    const other = await given.tenant(server)
    await signInUser(tenant, await userOf(tenant, [organization('o1')]))
    expect(await organizationsOf(other)).toEqual([])
    expect(await membersOf(other, 'o1')).toEqual([])
  })

  describe('opening a document', () => {
    const documentsOf = async ({ client }: given.Tenant) =>
      (await client.documents.get({ organizationId: 'o1' })).data

    test('[0.8.1] opening a missing document creates it and its organization once', async () => {
      const tenant = await given.tenant(server)
      const key = await keyOf(tenant)
      const { state, database } = watched()
      await ensureDocument(database, key, 'o1', 'd1', now())
      expect(await organizationsOf(tenant)).toEqual(['o1'])
      expect(await documentsOf(tenant)).toMatchObject([{ id: 'd1', disabled: false, accessType: 'public' }])
      for (let times = 0; times < 20; times++) await ensureDocument(database, key, 'o1', 'd1', now())
      expect(state.writes).toBe(1)
    })

    test('[0.8.1] opening an existing document leaves it unchanged', async () => {
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

    test('[0.8.1] concurrent opens of a missing document create one document', async () => {
      const tenant = await given.tenant(server)
      const key = await keyOf(tenant)
      const open = (documentId: string) => ensureDocument(server.database, key, 'o1', documentId, now())
      await Promise.all(['d1', 'd2', 'd3'].flatMap((id) => Array.from({ length: 10 }, () => open(id))))
      expect((await documentsOf(tenant)).map(({ id }) => id).sort()).toEqual(['d1', 'd2', 'd3'])
      expect(await organizationsOf(tenant)).toEqual(['o1'])
    })
  })
})
