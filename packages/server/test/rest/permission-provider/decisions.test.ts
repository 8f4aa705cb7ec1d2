import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { denied, document, folderScene, grant, nowSeconds } from '../../support/access/permission-scenes.ts'
import { allowLoopback, useProvider } from '../../support/receivers/permission-provider.ts'

describe.each(stores)('a permission provider and REST calls on %s', (store) => {
  const server = useServer(store, { env: allowLoopback })

  test('[7.8.8] [25.4.2] Get Permissions answers what the provider says, asked in one call', async () => {
    const tenant = await folderScene(server)
    await grant(tenant.client, 'ada', document('deep'))
    const provider = await useProvider(tenant)
    const expiresAt = nowSeconds() + 3600
    provider.decide = ({ resource }) => {
      if (resource.id === 'deep') return { hasAccess: false }
      if (resource.type === 'organization') return { hasAccess: true }
      return { hasAccess: true, accessRole: 'viewer', expiresAt: expiresAt * 1000 + 500 }
    }
    const input = {
      organizationId: 'o1',
      userIds: ['ada'],
      folderIds: ['inner'],
      documentIds: ['deep', 'flat'],
    }
    const viewer = { accessRole: 'viewer', accessType: 'public', expiresAt }
    const expected = {
      ada: {
        folders: { inner: viewer },
        documents: { deep: { ...denied('document'), accessType: 'public' }, flat: viewer },
        organization: { o1: { accessRole: 'editor' } },
      },
    }
    expect((await tenant.client.permissions.get(input)).data).toEqual(expected)
    expect((await tenant.client.permissions.get(input)).data).toEqual(expected)
    expect(provider.calls).toHaveLength(1)
    const resource = { organizationId: 'o1', source: 'setDocuments' }
    expect(provider.asked).toEqual([
      { userId: 'ada', resource: { ...resource, id: 'inner', type: 'folder' } },
      { userId: 'ada', resource: { ...resource, id: 'deep', type: 'document', parentFolderId: 'inner' } },
      { userId: 'ada', resource: { ...resource, id: 'flat', type: 'document' } },
      { userId: 'ada', resource: { ...resource, id: 'o1', type: 'organization', source: 'identify' } },
    ])
  })

  test('[7.8.8] Get Permissions does not ask about a document that does not exist, and denies without an answer', async () => {
    const tenant = await folderScene(server)
    const provider = await useProvider(tenant)
    provider.respond = (response) => response.writeHead(403).end()
    const { data } = await tenant.client.permissions.get({
      organizationId: 'o1',
      userIds: ['ada'],
      documentIds: ['missing'],
      skipResourceExistenceValidation: true,
    })
    expect(data.ada).toEqual({
      documents: { missing: { error: 'Document does not exist', errorCode: 'does_not_exist' } },
      organization: { o1: denied('organization') },
    })
    expect(provider.asked.map(({ resource }) => resource.id)).toEqual(['o1'])
  })

  /** A tenant with members of `org_1` and a document that the provider lets only the first user read. */
  async function verifyingScene(userCount: number) {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const userIds = Array.from({ length: userCount }, (_, index) => `u${String(index).padStart(4, '0')}`)
    for (let from = 0; from < userCount; from += 500) {
      await given.users(tenant, userIds.slice(from, from + 500))
    }
    const provider = await useProvider(tenant)
    provider.decide = ({ userId }) => ({ hasAccess: userId === 'u0000' })
    const inboxOf = async (userId: string) => {
      const { data } = await tenant.client.notifications.get({ organizationId: 'org_1', userId })
      return data.map(({ id }) => id)
    }
    return { tenant, provider, inboxOf }
  }

  test.each([3, 700])(
    '[7.8.8] Add Notification with verifyUserPermissions leaves out those of %i members whom the provider denies',
    async (userCount) => {
      const { tenant, provider, inboxOf } = await verifyingScene(userCount)
      const id = await given.notification(tenant, {
        notifyAll: true,
        notifyUsers: [{ userId: 'stranger' }, { email: 'nobody@example.com' }],
        verifyUserPermissions: true,
      })
      expect(await inboxOf('u0000')).toEqual([id])
      expect(await inboxOf('u0001')).toEqual([])
      expect(await inboxOf('stranger')).toEqual([])
      expect(provider.asked).toHaveLength(userCount + 1)
      expect(provider.asked[0]?.resource).toEqual({
        id: 'doc_1',
        type: 'document',
        source: 'setNotifications',
        organizationId: 'org_1',
      })
      const { count } = await server.database.read
        .selectFrom('notification_recipients')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('api_key', '=', tenant.apiKey)
        .executeTakeFirstOrThrow()
      expect(count).toBe(1)
    },
  )

  test.each([3, 700])(
    '[7.8.8] Update Notifications with verifyUserPermissions removes those of %i recipients whom the provider denies',
    async (userCount) => {
      const { tenant, provider, inboxOf } = await verifyingScene(userCount)
      const ids = [
        await given.notification(tenant, { notifyAll: true, notifyUsers: [] }),
        await given.notification(tenant, { notifyAll: true, notifyUsers: [] }),
      ]
      expect(provider.calls).toEqual([])
      const { data } = await tenant.client.notifications.update({
        organizationId: 'org_1',
        verifyUserPermissions: true,
        notifications: ids.map((id) => ({ id, displayBodyMessage: 'Changed.' })),
      })
      expect(Object.values(data).map(({ success }) => success)).toEqual([true, true])
      expect((await inboxOf('u0000')).sort()).toEqual(ids)
      expect(await inboxOf('u0002')).toEqual([])
      expect(provider.asked).toHaveLength(userCount)
    },
  )

  test('[7.8.8] while a notification waits for the provider, no transaction is open', async () => {
    const { tenant, provider, inboxOf } = await verifyingScene(1)
    const { respond } = provider
    let answer = () => {}
    provider.respond = (...call) => void (answer = () => respond(...call))
    const id = await given.notification(tenant, { notifyUsers: [{ userId: 'u0000' }] })
    const updated = tenant.client.notifications.update({
      organizationId: 'org_1',
      verifyUserPermissions: true,
      notifications: [{ id, displayBodyMessage: 'Changed.' }],
    })
    await expect.poll(() => provider.calls.length).toBe(1)
    // On SQLite an open transaction would delay all writes, on PostgreSQL those of the same rows.
    await tenant.client.notifications.update({
      organizationId: 'org_1',
      notifications: [{ id, displayBodyMessage: 'Changed by another call.' }],
    })
    answer()
    await updated
    expect(await inboxOf('u0000')).toEqual([id])
  })
})
