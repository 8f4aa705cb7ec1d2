import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const document = (id: string) => ({ type: 'document' as const, id, organizationId })

/** A removed grant stays stored to override older tokens. No operation shows it. */
describe.each(stores)('removed grants on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  const idsAt = async ({ client }: given.Tenant, level: { documentId?: string } = {}) => {
    const { data } = await client.users.get({ organizationId, ...level })
    return (data as { userId: string }[]).map(({ userId }) => userId)
  }
  const remove = ({ client }: given.Tenant, userId: string, id: string) =>
    client.permissions.remove({ userId, permissions: { resources: [document(id)] } })

  test('[12.1] a user added again after a removal is listed last', async () => {
    const tenant = await given.tenant(server)
    for (const [index, userId] of ['u1', 'u2', 'u3'].entries()) {
      server.clock.offsetMs = index
      await given.users(tenant, [userId])
    }
    try {
      server.clock.offsetMs = 10
      await tenant.client.users.delete({ organizationId, userIds: ['u1', 'u2'] })
      expect(await idsAt(tenant)).toEqual(['u3'])
      server.clock.offsetMs = 20
      const { data } = await tenant.client.users.add({ organizationId, users: [{ userId: 'u1' }] })
      expect(data).toMatchObject({ u1: { message: 'User added.' } })
      expect(await idsAt(tenant)).toEqual(['u3', 'u1'])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[8.4] deleting an organization keeps the profile of a user who was removed from it earlier', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Ada' }] })
    const resources = [{ type: 'organization' as const, id: organizationId }]
    await client.permissions.remove({ userId: 'u1', permissions: { resources } })
    await client.organizations.delete({ organizationIds: [organizationId] })
    await given.users(tenant, ['u1'])
    expect((await client.users.get({ organizationId })).data).toMatchObject([{ name: 'Ada' }])
  })

  test('[12.4] deleting a user from the last organization deletes the profile, although the record of a removed grant on another organization remains', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.organization(tenant, 'org_2')
    for (const id of [organizationId, 'org_2']) {
      await client.users.add({ organizationId: id, users: [{ userId: 'u1', name: 'Ada' }] })
    }
    const resources = [{ type: 'organization' as const, id: 'org_2' }]
    await client.permissions.remove({ userId: 'u1', permissions: { resources } })
    await client.users.delete({ organizationId, userIds: ['u1'] })
    await given.users(tenant, ['u1'])
    expect((await client.users.get({ organizationId })).data).not.toMatchObject([{ name: 'Ada' }])
  })

  test('[10.8] after a migration the target has the users of both documents, also users who were removed earlier from one of them', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.users(tenant, ['u1', 'u2', 'u3'], { documentId: 'd1' })
    await given.users(tenant, ['u1', 'u3', 'u4'], { documentId: 'd2' })
    await remove(tenant, 'u1', 'd2')
    await remove(tenant, 'u3', 'd1')
    const { data } = await client.documents.migrate({
      organizationId,
      documentId: 'd1',
      newDocumentId: 'd2',
    })
    await expect
      .poll(async () => {
        const status = await client.documents.migrateStatus({ organizationId, ...data })
        return status.data.status
      })
      .toBe('completed')
    expect((await idsAt(tenant, { documentId: 'd2' })).sort()).toEqual(['u1', 'u2', 'u3', 'u4'])
    expect(await idsAt(tenant, { documentId: 'd1' })).toEqual([])
  })
})
