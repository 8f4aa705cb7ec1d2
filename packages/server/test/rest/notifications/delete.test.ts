import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { inbox } from './calls.ts'

const deleted = { success: true, message: 'Notification deleted.' }
const failed = { success: false, message: 'Failed to delete notification.' }

const inDocument = async ({ client }: given.Tenant, documentId = 'doc_1') =>
  (await client.notifications.get({ organizationId: 'org_1', documentId })).data.map((one) => one.id)

describe.each(stores)('notifications.delete on %s', (store) => {
  const server = useServer(store)

  test('[18.4] delete with ids returns a result for each id', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    const other = await given.notification(tenant)
    for (const version of ['v1', 'v2'] as const) {
      const input = { organizationId: 'org_1', notificationIds: [id, 'unknown', id] }
      expect(await tenant.client.notifications.delete(input, { version })).toEqual({
        message: 'Notification(s) deleted successfully.',
        data: { [id]: version === 'v1' ? deleted : failed, unknown: failed },
      })
    }
    expect(await inDocument(tenant)).toEqual([other])
  })

  test('[18.4] delete without ids returns a result for each notification it found', async () => {
    const tenant = await given.tenant(server)
    const ids = [await given.notification(tenant), await given.notification(tenant)]
    const other = await given.notification(tenant, { documentId: 'doc_2' })
    const remove = async (documentId: string) =>
      (await tenant.client.notifications.delete({ organizationId: 'org_1', documentId })).data
    expect(await remove('doc_1')).toEqual(Object.fromEntries(ids.map((id) => [id, deleted])))
    expect(await remove('doc_1')).toEqual({})
    expect(await remove('unknown')).toEqual({})
    expect(await inbox(tenant, 'u1')).toEqual([other])
  })

  test('[18.4] delete removes only notifications that match all filters', async () => {
    const tenant = await given.tenant(server)
    const add = (fields: Parameters<typeof given.notification>[1]) => given.notification(tenant, fields)
    const match = await add({ locationId: 'l1' })
    const elsewhere = await add({ locationId: 'l2' })
    const otherDocument = await add({ documentId: 'doc_2', locationId: 'l1' })
    const otherUser = await add({ locationId: 'l1', notifyUsers: [{ userId: 'u2' }] })
    const notificationIds = [match, elsewhere, otherDocument, otherUser]
    const filter = {
      organizationId: 'org_1',
      documentId: 'doc_1',
      locationId: 'l1',
      userId: 'u1',
      notificationIds,
    }
    expect((await tenant.client.notifications.delete(filter)).data).toEqual({
      [match]: deleted,
      [elsewhere]: failed,
      [otherDocument]: failed,
      [otherUser]: failed,
    })
    expect(await inDocument(tenant)).toEqual([otherUser, elsewhere])
    expect(await inDocument(tenant, 'doc_2')).toEqual([otherDocument])
  })

  test('[18.4] delete with a user removes the notification for that user, and entirely after the last recipient', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, { notifyUsers: [{ userId: 'u1' }, { userId: 'u2' }] })
    const remove = async (userId: string) =>
      (await tenant.client.notifications.delete({ organizationId: 'org_1', userId })).data
    expect(await remove('u1')).toEqual({ [id]: deleted })
    expect(await inbox(tenant, 'u1')).toEqual([])
    expect(await inbox(tenant, 'u2')).toEqual([id])
    expect(await inDocument(tenant)).toEqual([id])
    expect(await remove('u1')).toEqual({})
    expect(await remove('u2')).toEqual({ [id]: deleted })
    expect(await inDocument(tenant)).toEqual([])
  })

  test('[18.4] delete with a user also removes notifications sent to the user’s email address', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, {
      notifyUsers: [{ email: 'u1@example.com' }, { userId: 'u1' }],
    })
    await tenant.client.users.add({
      organizationId: 'org_1',
      users: [{ userId: 'u1', email: 'u1@example.com' }],
    })
    const { data } = await tenant.client.notifications.delete({
      organizationId: 'org_1',
      userId: 'u1',
      notificationIds: [id],
    })
    expect(data).toEqual({ [id]: deleted })
    expect(await inDocument(tenant)).toEqual([])
  })

  test('[18.4] concurrent deletes for each of six recipients remove the notification', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 6 }, (_, n) => `u${n}`)
    const notifyUsers = userIds.map((userId) => ({ userId }))
    const id = await given.notification(tenant, { notifyUsers })
    const answers = await Promise.all(
      userIds.map((userId) => tenant.client.notifications.delete({ organizationId: 'org_1', userId })),
    )
    expect(answers.map((answer) => answer.data)).toEqual(userIds.map(() => ({ [id]: deleted })))
    expect(await inDocument(tenant)).toEqual([])
  })

  test('[18.4] delete removes more than a thousand notifications in one call', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant)
    const { apiKey } = tenant
    const count = 1200
    await server.database.write(async (db) => {
      const row = {
        api_key: apiKey,
        organization_id: 'org_1',
        document_id: 'doc_1',
        location_id: null,
        data: '{}',
        timestamp: 1,
      }
      const to = { recipient: 'u1', by_email: 0, email: null, named: 0, is_read: 0, for_you: 0, timestamp: 1 }
      const ids = Array.from({ length: count }, (_, n) => `n${n}`)
      await db
        .insertInto('notifications')
        .values(ids.map((id) => ({ ...row, notification_id: id, public_id: id })))
        .execute()
      await db
        .insertInto('notification_recipients')
        .values(ids.map((id) => ({ api_key: apiKey, organization_id: 'org_1', notification_id: id, ...to })))
        .execute()
    })
    const { data } = await tenant.client.notifications.delete({ organizationId: 'org_1', userId: 'u1' })
    expect(Object.keys(data).length).toBe(count + 1)
    expect(await inDocument(tenant)).toEqual([])
  })

  test('[8.4] [10.4] notifications are deleted with their document and with their organization', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant)
    const other = await given.notification(tenant, { documentId: 'doc_2' })
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    expect(await inbox(tenant, 'u1')).toEqual([other])
    await tenant.client.organizations.delete({ organizationIds: ['org_1'] })
    expect(await inbox(tenant, 'u1')).toEqual([])
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['At least one of documentId, userId or notificationIds is required.', {}],
    ['At least one of documentId, userId or notificationIds is required.', { locationId: 'l1' }],
    ['notificationIds must not be empty.', { documentId: 'doc_1', notificationIds: [] }],
    [
      'notificationIds must have at most 500 items.',
      { notificationIds: Array.from({ length: 501 }, (_, n) => `n${n}`) },
    ],
  ])('[18.4] [0.3] delete refuses a faulty body: %s', async (message, change) => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, { locationId: 'l1' })
    const answer = await server.post(
      '/v2/notifications/delete',
      { data: { organizationId: 'org_1', ...change } },
      tenant.headers,
    )
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
    expect(await inDocument(tenant)).toEqual([id])
  })
})
