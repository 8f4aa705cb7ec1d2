import type { Client } from '@plenum/client'
import type { PermissionResource } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import type { Decision } from '../permissions.ts'
import { evaluateAccess, type SessionUser } from './session-access.ts'
import type { TokenGrant } from '../tokens/user-tokens.ts'
import * as apiKeys from '../../store/api-keys.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import {
  document,
  folder,
  grant,
  nowSeconds,
  organization,
} from '../../../test/support/access/permission-scenes.ts'

type Role = 'viewer' | 'editor'
type Level = 'key' | 'folder' | 'document'
type Type = 'public' | 'organizationPrivate' | 'restricted'
interface Grants {
  organization?: Role
  folder?: Role
  document?: Role | 'expired'
}

/** Returns the grants as resources of the REST interface. */
function resourcesOf(grants: Grants): PermissionResource[] {
  const resources: PermissionResource[] = []
  if (grants.organization) resources.push({ ...organization, accessRole: grants.organization })
  if (grants.folder) resources.push({ ...folder('f1'), accessRole: grants.folder })
  if (grants.document === 'expired') resources.push({ ...document('d1'), expiresAt: nowSeconds() - 1 })
  else if (grants.document) resources.push({ ...document('d1'), accessRole: grants.document })
  return resources
}

const minute = 60_000

/** Returns the resources as grants of a verified token that is newer than every stored grant. */
const inToken = (...resources: PermissionResource[]): TokenGrant[] =>
  resources.map(({ type, id, organizationId = id, accessRole = 'editor', expiresAt = null }) => ({
    type,
    id,
    organizationId,
    accessRole,
    expiresAt,
    issuedAt: Date.now() + minute,
  }))

type TokenUser = Exclude<SessionUser, 'backend'>

const u1 = (...resources: PermissionResource[]): TokenUser => ({
  userId: 'u1',
  resources: inToken(...resources),
})

/** Returns the user with a token issued `ms` later, or earlier if `ms` is negative. */
const issuedLater = (ms: number, { userId, resources }: TokenUser): TokenUser => ({
  userId,
  resources: resources.map((one) => ({ ...one, issuedAt: one.issuedAt + ms })),
})

const roleOf = (decision: Decision | undefined) =>
  decision?.allowed ? decision.accessRole : (decision?.reason ?? 'nothing')

describe.each(stores)('access of sessions on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  const decisionsOf = async (
    { apiKey }: { apiKey: string },
    users: readonly SessionUser[],
    { organizationId = 'o1', documentId = 'd1', at = nowSeconds() } = {},
  ) => {
    const found = await apiKeys.find(server.database.read, apiKey)
    if (!found) throw new Error('The API key does not exist.')
    return evaluateAccess(server.database.read, found.key, organizationId, documentId, users, at)
  }

  /** Creates `d1` in `f1` of `o1` and sets the access type at the given level. */
  async function scene(accessType: Type, level: Level): Promise<given.Tenant> {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const own = (at: Level) => (level === at ? { accessType } : {})
    if (level === 'key') await client.apiKeyConfig.update({ defaultDocumentAccessType: accessType })
    await given.organization(tenant, 'o1')
    await client.folders.add({ organizationId: 'o1', folders: [{ folderId: 'f1', ...own('folder') }] })
    await client.documents.add({
      organizationId: 'o1',
      folderId: 'f1',
      documents: [{ documentId: 'd1', ...own('document') }],
    })
    return tenant
  }

  const grantStored = async (client: Client, grants: Grants) => {
    const resources = resourcesOf(grants)
    if (resources.length > 0) await grant(client, 'u1', ...resources)
  }

  describe('[25.9] worked cases of access', () => {
    test.each<[type: Type, level: Level, grants: Grants, role: Role | 'no_grant']>([
      ['public', 'key', {}, 'editor'],
      ['public', 'key', { organization: 'viewer' }, 'viewer'],
      ['organizationPrivate', 'folder', {}, 'no_grant'],
      ['organizationPrivate', 'folder', { organization: 'editor', document: 'viewer' }, 'viewer'],
      ['organizationPrivate', 'document', { document: 'editor' }, 'editor'],
      ['restricted', 'document', { organization: 'editor', folder: 'editor' }, 'no_grant'],
      ['restricted', 'folder', { organization: 'editor' }, 'no_grant'],
      ['restricted', 'folder', { folder: 'viewer' }, 'viewer'],
      ['restricted', 'key', { organization: 'editor' }, 'no_grant'],
      ['restricted', 'document', { document: 'expired' }, 'no_grant'],
    ])(
      '[25.9] with the access type %s set at the level %s and the grants %j, the role is %s',
      async (accessType, level, grants, role) => {
        const tenant = await scene(accessType, level)
        const ofToken = await decisionsOf(tenant, [u1(...resourcesOf(grants))])
        await grantStored(tenant.client, grants)
        const ofStore = await decisionsOf(tenant, [u1()])
        const ofBoth = await decisionsOf(tenant, [u1(...resourcesOf(grants))])
        const expected =
          role === 'no_grant' ? { allowed: false, reason: role } : { allowed: true, accessRole: role }
        for (const found of [ofToken, ofStore, ofBoth]) expect(found).toEqual([{ ...expected, accessType }])
      },
    )

    test.each(['public', 'organizationPrivate', 'restricted'] as const)(
      '[25.4.6] [25.9] a %s document denies every session while the document or its organization is disabled',
      async (accessType) => {
        const tenant = await scene(accessType, 'document')
        const { client } = tenant
        const all: Grants = { organization: 'editor', folder: 'editor', document: 'editor' }
        await grantStored(client, all)
        const users = [u1(), u1(...resourcesOf(all)), 'backend'] as const
        const roles = async () => (await decisionsOf(tenant, users)).map(roleOf)
        const setDocument = (disabled: boolean) =>
          client.documents.updateDisableState({ organizationId: 'o1', documentIds: ['d1'], disabled })

        expect(await roles()).toEqual(['editor', 'editor', 'editor'])
        await setDocument(true)
        expect(await roles()).toEqual(['disabled', 'disabled', 'disabled'])
        await setDocument(false)
        await client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: true })
        expect(await roles()).toEqual(['disabled', 'disabled', 'disabled'])
      },
    )
  })

  test('[25.3] a newer token’s role overrides the stored role on the same resource, whether higher or lower', async () => {
    const tenant = await scene('restricted', 'folder')
    await grantStored(tenant.client, { folder: 'viewer', document: 'editor' })
    const roles = await decisionsOf(tenant, [
      u1(),
      u1({ ...document('d1'), accessRole: 'viewer' }),
      u1({ ...folder('f1'), accessRole: 'editor' }),
      u1({ ...document('d1'), accessRole: 'viewer', expiresAt: nowSeconds() - 1 }),
    ])
    expect(roles.map(roleOf)).toEqual(['editor', 'viewer', 'editor', 'editor'])
  })

  test('[25.3] a stored role, or a removal, overrides an older token', async () => {
    const tenant = await scene('restricted', 'folder')
    const { client } = tenant
    const onDocument = u1(document('d1'))
    const onFolder = u1(folder('f1'))
    const sessions = [onDocument, onFolder].flatMap((one) => [issuedLater(-2 * minute, one), one])
    const roles = async () => (await decisionsOf(tenant, sessions)).map(roleOf)

    expect(await roles()).toEqual(['editor', 'editor', 'editor', 'editor'])
    await grant(client, 'u1', { ...document('d1'), accessRole: 'viewer' })
    expect(await roles()).toEqual(['viewer', 'editor', 'viewer', 'viewer'])
    await client.permissions.remove({ userId: 'u1', permissions: { resources: [document('d1')] } })
    expect(await roles()).toEqual(['no_grant', 'editor', 'editor', 'editor'])
    // The grant on the folder is only in the tokens, but removing it still takes effect.
    await client.users.delete({ organizationId: 'o1', folderId: 'f1', userIds: ['u1'] })
    expect(await roles()).toEqual(['no_grant', 'editor', 'no_grant', 'editor'])
    await grant(client, 'u1', { ...document('d1'), accessRole: 'viewer' })
    expect(await roles()).toEqual(['viewer', 'editor', 'viewer', 'viewer'])
  })

  test('[25.3.2] a stored grant with an expiry overrides an older token even after the grant expired', async () => {
    const tenant = await scene('restricted', 'document')
    const now = nowSeconds()
    await grant(tenant.client, 'u1', { ...document('d1'), accessRole: 'viewer', expiresAt: now + 60 })
    const newer = u1(document('d1'))
    const sessions = [issuedLater(-2 * minute, newer), newer]
    const at = async (seconds: number) => decisionsOf(tenant, sessions, { at: seconds })
    const allowed = { allowed: true, accessType: 'restricted' }
    expect(await at(now)).toEqual([
      { ...allowed, accessRole: 'viewer', expiresAt: now + 60 },
      { ...allowed, accessRole: 'editor' },
    ])
    expect((await at(now + 60)).map(roleOf)).toEqual(['no_grant', 'editor'])
  })

  test('[12.4] older tokens of a user who was deleted from an organization give no access inside it, only new grants do', async () => {
    const tenant = await scene('restricted', 'folder')
    const { client } = tenant
    await grantStored(client, { organization: 'editor' })
    const newer = u1(organization, folder('f1'), document('d1'))
    const older = issuedLater(-2 * minute, newer)
    const sessions = [older, newer, { ...older, userId: 'u2' }]
    const roles = async () => (await decisionsOf(tenant, sessions)).map(roleOf)

    // This removes only the grant on the organization (7.5); grants inside it stay.
    await client.permissions.remove({ userId: 'u1', permissions: { resources: [organization] } })
    expect(await roles()).toEqual(['editor', 'editor', 'editor'])
    await grantStored(client, { organization: 'editor' })
    await client.users.delete({ organizationId: 'o1', userIds: ['u1'] })
    expect(await roles()).toEqual(['no_grant', 'editor', 'editor'])
    await given.users(tenant, ['u1'], { organizationId: 'o1' })
    expect(await roles()).toEqual(['no_grant', 'editor', 'editor'])
    await grant(client, 'u1', { ...folder('f1'), accessRole: 'viewer' })
    expect(await roles()).toEqual(['viewer', 'editor', 'editor'])
  })

  test('[12.1] [12.3] [25.3.1] re-sending the same role overrides tokens issued since, and a call without a role does not', async () => {
    const tenant = await scene('organizationPrivate', 'document')
    const { client } = tenant
    await grantStored(client, { organization: 'viewer' })
    const session = issuedLater(-minute / 2, u1(organization))
    const role = async () => (await decisionsOf(tenant, [session])).map(roleOf)
    const users = (more: object) => ({ organizationId: 'o1', users: [{ userId: 'u1', ...more }] })
    try {
      expect(await role()).toEqual(['editor'])
      server.clock.offsetMs = minute
      await client.users.add(users({ name: 'Ada' }))
      await client.users.update(users({ name: 'Ada L.' }))
      await client.users.update(users({ accessRole: 'viewer' }), { version: 'v1' })
      expect(await role()).toEqual(['editor'])
      await client.users.update(users({ accessRole: 'viewer' }))
      expect(await role()).toEqual(['viewer'])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test.each(['document', 'folder', 'organization'] as const)(
    '[25.3.4] a user removed from a %s stays removed after it was deleted and created again, and tokens of other users open it again',
    async (kind) => {
      const tenant = await scene('organizationPrivate', 'document')
      const { client } = tenant
      const resource = { document: document('d1'), folder: folder('f1'), organization }[kind]
      const older = issuedLater(-2 * minute, u1(resource))
      const sessions = [older, { ...older, userId: 'u2' }]
      const roles = async () => (await decisionsOf(tenant, sessions)).map(roleOf)
      await grant(client, 'u2', { ...resource, accessRole: 'viewer' })
      await client.permissions.remove({ userId: 'u1', permissions: { resources: [resource] } })
      expect(await roles()).toEqual(['no_grant', 'viewer'])

      if (kind === 'document') await client.documents.delete({ organizationId: 'o1', documentIds: ['d1'] })
      if (kind === 'folder') await client.folders.delete({ organizationId: 'o1', folderId: 'f1' })
      if (kind === 'organization') await client.organizations.delete({ organizationIds: ['o1'] })
      await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
      if (kind !== 'document')
        await client.folders.add({ organizationId: 'o1', folders: [{ folderId: 'f1' }] })
      await client.documents.add({
        organizationId: 'o1',
        folderId: 'f1',
        documents: [{ documentId: 'd1', accessType: 'organizationPrivate' }],
      })
      expect(await roles()).toEqual(['no_grant', 'editor'])
    },
  )

  test('[25.3] a token gives access only to the resources that it names by type, id and organization', async () => {
    const tenant = await scene('restricted', 'document')
    const elsewhere = { ...document('d1'), organizationId: 'o2' }
    const sessions = [
      u1(elsewhere),
      u1(document('d2')),
      u1({ ...folder('d1') }),
      u1({ type: 'organization', id: 'd1' }),
      u1(document('d1')),
    ]
    const roles = (await decisionsOf(tenant, sessions)).map(roleOf)
    expect(roles).toEqual(['no_grant', 'no_grant', 'no_grant', 'no_grant', 'editor'])
  })

  test('[25.3] each session uses its own token, also when two sessions belong to the same user', async () => {
    const tenant = await scene('restricted', 'folder')
    await grant(tenant.client, 'u2', { ...folder('f1'), accessRole: 'viewer' })
    const roles = await decisionsOf(tenant, [
      u1(document('d1')),
      'backend',
      { userId: 'u2', resources: [] },
      u1(),
      u1({ ...folder('f1'), accessRole: 'viewer' }),
      { userId: 'u2', resources: inToken(document('d1')) },
    ])
    expect(roles.map(roleOf)).toEqual(['editor', 'editor', 'viewer', 'no_grant', 'viewer', 'editor'])
    expect(await decisionsOf(tenant, [])).toEqual([])
  })

  test('[25.8] a decision contains the time at which an expiry can change it', async () => {
    const tenant = await scene('restricted', 'folder')
    const now = nowSeconds()
    const [soon, later] = [now + 60, now + 600]
    await grant(
      tenant.client,
      'u1',
      { ...folder('f1'), accessRole: 'viewer' },
      { ...document('d1'), accessRole: 'editor', expiresAt: later },
    )
    const session = u1({ ...document('d1'), accessRole: 'viewer', expiresAt: soon })
    const at = async (seconds: number) => (await decisionsOf(tenant, [session], { at: seconds }))[0]
    const allowed = { allowed: true, accessType: 'restricted' }

    // First the token’s grant applies, then the stored one on the document, then the one on the folder.
    expect(await at(now)).toEqual({ ...allowed, accessRole: 'viewer', expiresAt: soon })
    expect(await at(soon - 1)).toEqual({ ...allowed, accessRole: 'viewer', expiresAt: soon })
    expect(await at(soon)).toEqual({ ...allowed, accessRole: 'editor', expiresAt: later })
    expect(await at(later)).toEqual({ ...allowed, accessRole: 'viewer' })
  })

  test('[25.8] a decision stays the same until its expiresAt, for random grants', async () => {
    const tenant = await scene('organizationPrivate', 'folder')
    const now = nowSeconds()
    const roles: readonly Role[] = ['viewer', 'editor']
    const random = createRandom()
    const some = () =>
      [organization, folder('f1'), document('d1')].flatMap((resource): PermissionResource[] => {
        if (random(3) === 0) return []
        const expiresAt = random(3) === 0 ? {} : { expiresAt: now + random(12) }
        return [{ ...resource, accessRole: roles[random(2)], ...expiresAt }]
      })
    for (let round = 0; round < 20; round++) {
      const stored = some()
      if (stored.length > 0) await grant(tenant.client, `r${round}`, ...stored)
      const sessions = Array.from({ length: 6 }, (_, index) =>
        issuedLater(index % 2 ? -2 * minute : 0, {
          userId: `r${round}`,
          resources: inToken(...some()),
        }),
      )
      let before = await decisionsOf(tenant, sessions, { at: now })
      for (let at = now + 1; at < now + 14; at++) {
        const after = await decisionsOf(tenant, sessions, { at })
        for (const [index, decision] of before.entries()) {
          const until = decision.allowed ? decision.expiresAt : undefined
          if (until !== undefined) expect(until).toBeGreaterThanOrEqual(at)
          if (until !== at) expect(after[index]).toEqual(decision)
        }
        before = after
      }
    }
  })

  test('[0.8.1] access to a document that does not exist yet is decided as if it had just been created', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const newDocument = { organizationId: 'nowhere', documentId: 'new' }
    const named = { type: 'document', id: 'new', organizationId: 'nowhere', accessRole: 'viewer' } as const
    const member = { type: 'organization', id: 'nowhere', accessRole: 'viewer' } as const
    const roles = async () => {
      const sessions: SessionUser[] = [u1(), u1(named), { userId: 'u2', resources: [] }, 'backend']
      return (await decisionsOf(tenant, sessions, newDocument)).map(roleOf)
    }
    expect(await roles()).toEqual(['editor', 'viewer', 'editor', 'editor'])
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' })
    expect(await roles()).toEqual(['no_grant', 'viewer', 'no_grant', 'editor'])
    // A grant does not require its resource to exist (7.3).
    await grant(client, 'u1', member)
    await grant(client, 'u2', named)
    expect(await roles()).toEqual(['no_grant', 'viewer', 'viewer', 'editor'])
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'organizationPrivate' })
    const before = await roles()
    expect(before).toEqual(['viewer', 'viewer', 'viewer', 'editor'])
    await client.presence.add({ ...newDocument, users: [{ userId: 'u9' }] })
    expect(await roles()).toEqual(before)
  })

  test('[P13] grants and documents of another API key have no effect', async () => {
    const one = await scene('restricted', 'document')
    const other = await scene('restricted', 'document')
    await grantStored(one.client, { document: 'editor' })
    expect((await decisionsOf(one, [u1()])).map(roleOf)).toEqual(['editor'])
    expect((await decisionsOf(other, [u1()])).map(roleOf)).toEqual(['no_grant'])
  })
})
