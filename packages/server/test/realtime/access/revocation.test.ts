import type { PermissionResource } from '@plenum/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { synced } from '../../support/clients/convergence.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const document = { type: 'document', id: 'doc_1', organizationId } as const
const organization = { type: 'organization', id: organizationId } as const
const users = [{ userId: 'ada', accessRole: 'viewer' as const }]

describe.each(stores)('tokens and later changes of access on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  afterEach(() => {
    server.clock.offsetMs = 0
  })

  /** Creates a tenant with the document `doc_1` of `org_1`. */
  async function scene(accessType: 'organizationPrivate' | 'restricted'): Promise<given.Tenant> {
    const tenant = await given.tenant(server)
    await given.organization(tenant)
    await tenant.client.documents.add({ organizationId, documents: [{ documentId: 'doc_1', accessType }] })
    return tenant
  }

  /** Connects a client that retries with the same token, and collects the close codes of its connections. */
  async function connected(token: string) {
    const client = yjsClient(server, token)
    const codes: number[] = []
    client.provider.on('connection-close', (event) => codes.push(event?.code ?? 0))
    await synced(client)
    return { ...client, codes }
  }

  const codeOf = async (token: string) =>
    (await new RawSocket(server, `/yjs/${editorName}?token=${token}`).closed).code

  /** Returns the stored text after all changes of the client are refused or stored. */
  async function textAfter(tenant: given.Tenant, client: Awaited<ReturnType<typeof connected>>) {
    const observer = await connected(await tokenFor(tenant, 'observer', { resources: [document] }))
    observer.text.insert(observer.text.length, '!')
    const typed = client.text.toString()
    await expect.poll(() => client.text.toString()).not.toBe(typed)
    const { data } = await tenant.client.crdt.get({ organizationId, documentId: 'doc_1', editorId: 'note' })
    observer.provider.destroy()
    return String(data[0]?.data).replaceAll('!', '')
  }

  type Change = ({ client }: given.Tenant) => Promise<unknown>
  type Type = 'organizationPrivate' | 'restricted'
  /** The input of Add and Remove Permissions. */
  const onAda = (...resources: PermissionResource[]) => ({ userId: 'ada', permissions: { resources } })

  test.each<[title: string, type: Type, remove: Change, members: string[]]>([
    [
      'Remove Permissions from the organization',
      'organizationPrivate',
      ({ client }) => client.permissions.remove(onAda(organization, document)),
      ['bob'],
    ],
    [
      'Remove Permissions from the document',
      'restricted',
      ({ client }) => client.permissions.remove(onAda(document)),
      ['ada', 'bob'],
    ],
    [
      'Delete Users from the organization',
      'restricted',
      ({ client }) => client.users.delete({ organizationId, userIds: ['ada'] }),
      ['bob'],
    ],
    [
      'Delete Users from the document',
      'restricted',
      ({ client }) => client.users.delete({ organizationId, documentId: 'doc_1', userIds: ['ada'] }),
      ['ada', 'bob'],
    ],
  ])(
    '[25.3] [R9.1] %s closes the session of the user, and only a newer token opens the document again',
    async (_, accessType, remove, members) => {
      const tenant = await scene(accessType)
      const tokenOf = (userId: string) => tokenFor(tenant, userId, { resources: [organization, document] })
      const token = await tokenOf('ada')
      const ada = await connected(token)
      ada.text.insert(0, 'mine')
      const bob = await connected(await tokenOf('bob'))
      await expect.poll(() => bob.text.toString()).toBe('mine')
      await remove(tenant)
      await expect.poll(() => ada.codes).toContain(4403)
      ada.provider.destroy()
      expect(await codeOf(token)).toBe(4403)
      // Signing in with the old token has not restored the membership.
      const { data } = await tenant.client.users.get({ organizationId })
      expect((data as { userId: string }[]).map(({ userId }) => userId).sort()).toEqual(members)
      expect(bob.codes).toEqual([])
      const back = await connected(await tokenOf('ada'))
      expect(back.text.toString()).toBe('mine')
    },
  )

  test('[25.3] [R9] a user whose access is granted again reconnects with the old token and has the granted role', async () => {
    const tenant = await scene('restricted')
    const token = await tokenFor(tenant, 'ada', { resources: [document] })
    const ada = await connected(token)
    await tenant.client.permissions.remove(onAda(document))
    await expect.poll(() => ada.codes).toContain(4403)
    ada.provider.destroy()
    await tenant.client.permissions.add(onAda({ ...document, accessRole: 'viewer' }))
    const back = await connected(token)
    back.text.insert(0, 'forged')
    expect(await textAfter(tenant, back)).toBe('')
    expect(back.codes).toEqual([])
  })

  test.each<[title: string, type: Type, demote: Change]>([
    [
      'Update Users of the organization',
      'organizationPrivate',
      ({ client }) => client.users.update({ organizationId, users }),
    ],
    [
      'Add Users to the organization',
      'organizationPrivate',
      ({ client }) => client.users.add({ organizationId, users }),
    ],
    [
      'Add Users to the document',
      'restricted',
      ({ client }) => client.users.add({ organizationId, documentId: 'doc_1', users }),
    ],
    [
      'Add Permissions on the document',
      'restricted',
      ({ client }) => client.permissions.add(onAda({ ...document, accessRole: 'viewer' })),
    ],
  ])(
    '[25.3] [R9.2] [25.3.1] %s with the role viewer makes an older token read-only, and a newer token with the role editor can write',
    async (_, accessType, demote) => {
      const tenant = await scene(accessType)
      const resources = accessType === 'restricted' ? [document] : [organization]
      const token = await tokenFor(tenant, 'ada', { resources })
      const ada = await connected(token)
      ada.text.insert(0, 'mine')
      expect(await textAfter(tenant, ada)).toBe('mine')
      await demote(tenant)
      ada.text.insert(0, 'forged ')
      expect(await textAfter(tenant, ada)).toBe('mine')
      expect(ada.codes).toEqual([])
      ada.provider.destroy()

      const again = await connected(token)
      again.text.insert(0, 'forged ')
      expect(await textAfter(tenant, again)).toBe('mine')
      again.provider.destroy()
      const raised = resources.map((resource) => ({ ...resource, accessRole: 'editor' as const }))
      const newer = await connected(await tokenFor(tenant, 'ada', { resources: raised }))
      newer.text.insert(0, 'all ')
      expect(await textAfter(tenant, newer)).toBe('all mine')
    },
  )

  test('[25.3.2] [R9] a stored grant that expires ends the access of an older token', async () => {
    const tenant = await scene('restricted')
    const ada = await connected(await tokenFor(tenant, 'ada', { resources: [document] }))
    const expiresAt = Math.floor(Date.now() / 1000) + 3600
    await tenant.client.permissions.add(onAda({ ...document, expiresAt }))
    server.clock.offsetMs = 3_600_000
    await expect.poll(() => ada.codes).toContain(4403)
  })

  test('[25.7] [R9] a membership created by signing in applies to the other sessions of the user', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.documents.add({
      organizationId,
      createOrganization: true,
      documents: [{ documentId: 'doc_1', accessType: 'public' }],
    })
    // A user without any grant may write in a public document.
    const first = await connected(await tokenFor(tenant, 'ada', { resources: [] }))
    first.text.insert(0, 'mine')
    expect(await textAfter(tenant, first)).toBe('mine')
    await connected(await tokenFor(tenant, 'ada', { role: 'viewer' }))
    first.text.insert(0, 'forged ')
    expect(await textAfter(tenant, first)).toBe('mine')
    expect(first.codes).toEqual([])
  })

  test('[R5.3] [2.0.2] pages of the server itself can connect whatever the allowed domains are', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    await tenant.client.domains.add({ domains: ['example.com'] })
    const token = await tokenFor(tenant)
    const from = (origin: string) =>
      new RawSocket(server.one, `/yjs/${editorName}?token=${token}`, { origin })
    expect(await from('http://127.0.0.1:1').closed).toMatchObject({ code: 4403 })
    for (const origin of [server.one.url, 'https://example.com']) {
      const socket = from(origin)
      await socket.receivedCount(1)
      // The server accepts the client, so it requests the document with a message of type 0.
      expect(socket.received[0]?.[0]).toBe(0)
    }
  })
})
