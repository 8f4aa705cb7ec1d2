import type { PermissionResource, UserPermissions } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const organization = { type: 'organization', id: organizationId } as const
const document = { type: 'document', id: 'doc_1', organizationId } as const
const viewer = { accessRole: 'viewer' } as const
const editor = { accessRole: 'editor' } as const

describe.each(stores)('roles that nobody sent on %s', (store) => {
  const server = useServer(store)

  async function scene(): Promise<given.Tenant> {
    const tenant = await given.tenant(server)
    await given.organization(tenant)
    await tenant.client.documents.add({
      organizationId,
      documents: [{ documentId: 'doc_1', accessType: 'organizationPrivate' }],
    })
    return tenant
  }

  /** The role that a connection with the token has in the document. */
  async function liveRole(token: string) {
    const socket = await RealtimeSocket.connect(server, token)
    const { accessRole } = await socket.open()
    void socket.close()
    return accessRole
  }

  /** The roles that the operations tell about the document, without knowing a token. */
  async function toldRoles({ client }: given.Tenant) {
    const resources = { organizationId, userIds: ['ada'], documentIds: ['doc_1'] }
    const { data } = await client.permissions.get(resources)
    const explained = await client.permissions.explain({
      organizationId,
      userId: 'ada',
      documentId: 'doc_1',
    })
    const { documents, organization: organizations } = data.ada as UserPermissions
    return {
      explain: explained.data.now.accessRole,
      document: documents?.doc_1?.accessRole,
      organization: organizations[organizationId]?.accessRole,
    }
  }
  const allAre = (role: 'viewer' | 'editor') => ({ explain: role, document: role, organization: role })

  const addUser = ({ client }: given.Tenant, level: { documentId?: string } = {}, user: object = {}) =>
    client.users.add({ organizationId, ...level, users: [{ userId: 'ada', name: 'Ada', ...user }] })
  const grant = ({ client }: given.Tenant, ...resources: PermissionResource[]) =>
    client.permissions.add({ userId: 'ada', permissions: { resources } })
  const tokenOf = (tenant: given.Tenant, grants?: Parameters<typeof tokenFor>[2]) =>
    tokenFor(tenant, 'ada', grants)

  test.each(['before', 'after'])(
    '[25.3.5] [25.7.2] a user added without a role %s a viewer token was issued is a viewer for sessions, Get Permissions and Explain',
    async (order) => {
      const tenant = await scene()
      if (order === 'before') await addUser(tenant)
      const token = await tokenOf(tenant, { role: 'viewer' })
      if (order === 'after') await addUser(tenant)
      expect(await liveRole(token)).toBe('viewer')
      expect(await toldRoles(tenant)).toEqual(allAre('viewer'))
      const { data } = await tenant.client.users.get({ organizationId })
      expect(data).toMatchObject([{ userId: 'ada', accessRole: 'viewer' }])
      // A token that names no role changes nothing, and neither does adding the user again.
      await addUser(tenant)
      expect(await liveRole(await tokenOf(tenant))).toBe('viewer')
      // A role that is sent applies everywhere.
      await addUser(tenant, {}, editor)
      expect(await liveRole(token)).toBe('editor')
      expect(await toldRoles(tenant)).toEqual(allAre('editor'))
    },
  )

  test('[25.3.5] adding a user without a role does not raise an open session, and its writes stay refused', async () => {
    const tenant = await scene()
    const socket = await RealtimeSocket.connect(server, await tokenOf(tenant, { role: 'viewer' }))
    expect((await socket.open()).accessRole).toBe('viewer')
    await addUser(tenant)
    await addUser(tenant, { documentId: 'doc_1' })
    await grant(tenant, document, organization)
    expect(await socket.set('state', { a: 1 })).toMatchObject({ type: 'error' })
    await grant(tenant, { ...document, ...editor })
    expect(await socket.set('state', { a: 1 })).toMatchObject({ type: 'done' })
  })

  test.each<[what: string, add: (tenant: given.Tenant) => Promise<unknown>]>([
    ['Add Users under v2', (tenant) => addUser(tenant)],
    [
      'Add Users under v1, which ignores the role',
      ({ client }) =>
        client.users.add({ organizationId, users: [{ userId: 'ada', ...editor }] }, { version: 'v1' }),
    ],
    ['Add Users to the document', (tenant) => addUser(tenant, { documentId: 'doc_1' })],
    ['Add Permissions on the organization', (tenant) => grant(tenant, organization)],
    ['Add Permissions on the document', (tenant) => grant(tenant, document)],
  ])('[25.3.5] [25.4.1] %s without a role keeps the stored role viewer', async (_, add) => {
    const tenant = await scene()
    await grant(tenant, { ...organization, ...viewer })
    await add(tenant)
    expect(await toldRoles(tenant)).toEqual(allAre('viewer'))
    for (const token of [await tokenOf(tenant), await tokenOf(tenant, { resources: [document] })])
      expect(await liveRole(token)).toBe('viewer')
  })

  test('[25.3.5] without any role that somebody sent, the role is editor', async () => {
    const tenant = await scene()
    await addUser(tenant)
    await addUser(tenant, { documentId: 'doc_1' })
    expect(await toldRoles(tenant)).toEqual(allAre('editor'))
    expect(await liveRole(await tokenOf(tenant))).toBe('editor')
  })

  test('[25.3.5] a role that was removed does not come back with a grant without a role', async () => {
    const tenant = await scene()
    await grant(tenant, { ...organization, ...viewer })
    await tenant.client.permissions.remove({ userId: 'ada', permissions: { resources: [organization] } })
    await addUser(tenant)
    expect(await toldRoles(tenant)).toEqual(allAre('editor'))
  })

  test('[25.3.5] [25.4.1] the most specific grant whose role was sent gives the role, below the grants without one', async () => {
    const tenant = await scene()
    await grant(tenant, { ...organization, ...viewer })
    await grant(tenant, { ...document, ...editor })
    expect((await toldRoles(tenant)).document).toBe('editor')
    await tenant.client.permissions.remove({ userId: 'ada', permissions: { resources: [document] } })
    await addUser(tenant, { documentId: 'doc_1' })
    expect((await toldRoles(tenant)).document).toBe('viewer')
  })

  test('[25.3.5] [25.4.5] a grant that does not apply to a restricted document gives no role either', async () => {
    const tenant = await scene()
    await tenant.client.documents.updateAccess({
      organizationId,
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    await grant(tenant, { ...organization, ...viewer })
    await addUser(tenant, { documentId: 'doc_1' })
    expect((await toldRoles(tenant)).document).toBe('editor')
  })

  test('[7.9] [25.3.5] Explain names the grants without a role and the grant that gives it', async () => {
    const tenant = await scene()
    await grant(tenant, { ...organization, ...viewer })
    await addUser(tenant, { documentId: 'doc_1' })
    const { data } = await tenant.client.permissions.explain({
      organizationId,
      userId: 'ada',
      documentId: 'doc_1',
      assume: { removeGrants: [organization] },
    })
    expect(data.now).toMatchObject({
      accessRole: 'viewer',
      rule: '25.4.1',
      message:
        'The most specific grant that applies is the one on the document. Nobody sent a role with it, so the one on the organization gives it. It gives the role viewer: the user may read, but not write.',
      levels: [
        {
          grant: { accessRole: 'editor', isDefaultRole: true, applies: true },
          message: 'The grant on this document gives access. Nobody sent a role with it.',
        },
        {
          grant: { accessRole: 'viewer', applies: true },
          message:
            'The grant on the organization gives the role viewer, because nobody sent one for the document.',
        },
        { type: 'apiKey' },
      ],
    })
    expect(data.assumed).toMatchObject({
      accessRole: 'editor',
      message:
        'The most specific grant that applies is the one on the document. It gives the role editor: the user may read and write. This is the default, because nobody sent a role. In sessions whose token has a role, that role applies.',
    })
    expect(data.differs).toBe(true)
  })

  test.each([
    ['a token', { token: { resources: [{ ...organization, ...viewer }] } }],
    ['a grant', { addGrants: [{ type: 'organization' as const, id: organizationId, ...viewer }] }],
  ])('[7.9.2] [25.3.5] Explain applies the role of %s that is assumed', async (_, assume) => {
    const tenant = await scene()
    await addUser(tenant)
    const about = { organizationId, userId: 'ada', documentId: 'doc_1' }
    const { data } = await tenant.client.permissions.explain({ ...about, assume })
    expect([data.now.accessRole, data.assumed?.accessRole]).toEqual(['editor', 'viewer'])
  })
})
