import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const updated = { success: true, message: 'Notification updated.' }
const failed = { success: false, message: 'Failed to update notification.' }

const read = async ({ client }: given.Tenant, id: string, userId = 'u1') => {
  const { data } = await client.notifications.get({
    organizationId: 'org_1',
    userId,
    notificationIds: [id],
  })
  return data[0]
}

describe.each(stores)('notifications.update on %s', (store) => {
  const server = useServer(store)

  test('[4.17] update returns a result for each id and success for the call', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    const data = {
      organizationId: 'org_1',
      notifications: [
        { id, displayBodyMessage: 'First' },
        { id: 'unknown', displayBodyMessage: 'None' },
        { id, displayBodyMessage: 'Second' },
      ],
    }
    expect((await server.post('/v1/notifications/update', { data }, tenant.headers)).body).toEqual({
      result: {
        status: 'success',
        message: 'Notification(s) updated successfully.',
        data: { [id]: updated, unknown: failed },
      },
    })
    expect(await read(tenant, id)).toMatchObject({ displayBodyMessage: 'First' })
  })

  test('[4.17] [0.4] update returns success for the call even when every notification failed', async () => {
    const { client } = await given.tenant(server)
    expect(
      await client.notifications.update({
        organizationId: 'unknown',
        notifications: [{ id: 'a' }, { id: 'b' }],
      }),
    ).toEqual({
      message: 'Notification(s) updated successfully.',
      data: { a: failed, b: failed },
    })
  })

  test('[4.17] update accepts one object instead of a list', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    for (const version of ['v1', 'v2'] as const) {
      const input = { organizationId: 'org_1', notifications: { id, displayBodyMessage: version } }
      expect(await tenant.client.notifications.update(input, { version })).toEqual({
        message: 'Notification(s) updated successfully.',
        data: { [id]: updated },
      })
      expect(await read(tenant, id)).toMatchObject({ displayBodyMessage: version })
    }
  })

  test('[4.17] update replaces the fields of the request and keeps the others', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, {
      displayHeadlineMessageTemplateData: { actionUser: { userId: 'actor' }, task: 'old', more: 'old' },
      notificationSourceData: { old: true },
    })
    const before = await read(tenant, id)
    const change = {
      actionUser: { userId: 'u9', name: 'Nine', email: 'nine@example.com' },
      displayHeadlineMessageTemplate: '{recipientUser} has {task}',
      displayHeadlineMessageTemplateData: {
        actionUser: { userId: 'u9' },
        recipientUser: 'Grace',
        task: 'new',
      },
      displayBodyMessage: 'New',
      notificationSourceData: { new: [1, { deep: null }] },
    }
    const unknown = { timestamp: 1, notificationSource: 'crdt', metadata: {}, stranger: true }
    await tenant.client.notifications.update({
      organizationId: 'org_1',
      notifications: [{ id, ...change, ...unknown }],
    })
    expect(await read(tenant, id)).toEqual({ ...before, ...change })
    await tenant.client.notifications.update({
      organizationId: 'org_1',
      notifications: [{ id, displayBodyMessage: '' }],
    })
    expect(await read(tenant, id)).toEqual({ ...before, ...change, displayBodyMessage: '' })
    await tenant.client.notifications.update({ organizationId: 'org_1', notifications: [{ id }] })
    expect(await read(tenant, id)).toEqual({ ...before, ...change, displayBodyMessage: '' })
  })

  test('[4.17] update accepts recipientUser as an object', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    const displayHeadlineMessageTemplateData = { recipientUser: { userId: 'u1', name: 'One' } }
    await tenant.client.notifications.update({
      organizationId: 'org_1',
      notifications: { id, displayHeadlineMessageTemplateData },
    })
    expect(await read(tenant, id)).toMatchObject({ displayHeadlineMessageTemplateData })
  })

  describe('filters', () => {
    const here = { organizationId: 'org_1', documentId: 'doc_1', locationId: 'l1', userId: 'u1' }
    const { organizationId, documentId, locationId, userId } = here

    test.each([
      ['organization', { organizationId }],
      ['organization plus document', { organizationId, documentId }],
      ['organization plus document plus location', { organizationId, documentId, locationId }],
      ['organization plus document plus user', { organizationId, documentId, userId }],
      ['organization plus user', { organizationId, userId }],
      ['organization plus location', { organizationId, locationId }],
      ['organization plus location plus user', { organizationId, locationId, userId }],
      ['organization plus document plus location plus user', here],
    ])(
      '[4.17] a filter by %s updates the notifications that match and reports the others as failed',
      async (_, filter) => {
        const tenant = await given.tenant(server)
        const { client } = tenant
        const targets = {
          fits: here,
          otherOrganization: { ...here, organizationId: 'org_2' },
          otherDocument: { ...here, documentId: 'doc_2' },
          otherLocation: { ...here, locationId: 'l2' },
          noLocation: { ...here, locationId: undefined },
          otherUser: { ...here, userId: 'u2' },
        }
        const expected: Record<string, object> = {}
        for (const [id, { userId, ...target }] of Object.entries(targets)) {
          await given.notification(tenant, { ...target, notificationId: id, notifyUsers: [{ userId }] })
          const outside = Object.entries(filter).some(
            ([key, value]) => value !== { ...target, userId }[key as keyof typeof here],
          )
          expected[id] = outside ? failed : updated
        }
        expect(expected).toMatchObject({ fits: updated, otherOrganization: failed })
        const notifications = Object.keys(targets).map((id) => ({ id, displayBodyMessage: 'Changed' }))
        expect((await client.notifications.update({ ...filter, notifications })).data).toEqual(expected)

        for (const [id, { organizationId, documentId }] of Object.entries(targets)) {
          const { data } = await client.notifications.get({
            organizationId,
            documentId,
            notificationIds: [id],
          })
          expect(data[0]?.displayBodyMessage).toBe(expected[id] === updated ? 'Changed' : 'Ready for review.')
        }
      },
    )

    test('[4.17] update accepts a numeric location id as a number and as a string', async () => {
      const tenant = await given.tenant(server)
      const id = await given.notification(tenant, { locationId: 42 })
      const update = async (locationId: string | number) =>
        (await tenant.client.notifications.update({ organizationId, locationId, notifications: { id } })).data
      expect(await update(42)).toEqual({ [id]: updated })
      expect(await update('42')).toEqual({ [id]: updated })
      expect(await update(43)).toEqual({ [id]: failed })
    })
  })

  test('[4.17] [18.3] readByUserIds marks a notification as read and removes it from the personal list, unless persistReadForUsers is set', async () => {
    const tenant = await given.tenant(server)
    const notifyUsers = ['u1', 'u2', 'u3'].map((userId) => ({ userId }))
    const id = await given.notification(tenant, { notifyUsers })
    const state = async (userId: string) => {
      const found = await read(tenant, id, userId)
      return found && [found.isUnread, found.forYou]
    }
    const update = (readByUserIds: string[], persistReadForUsers?: boolean) =>
      tenant.client.notifications.update({
        organizationId: 'org_1',
        notifications: [{ id, readByUserIds, persistReadForUsers }],
      })
    await update(['u1', 'stranger', 'u1'])
    await update(['u2'], true)
    expect(await state('u1')).toEqual([false, false])
    expect(await state('u2')).toEqual([false, true])
    expect(await state('u3')).toEqual([true, true])
    expect(await state('stranger')).toBeUndefined()

    await update(['u2'], false)
    await update([])
    expect(await state('u2')).toEqual([false, false])
    expect(await state('u3')).toEqual([true, true])
    expect(await read(tenant, id, 'u3')).toMatchObject({ displayBodyMessage: 'Ready for review.' })
  })

  test('[4.17] a user reached by email address can mark the notification as read', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, { notifyUsers: [{ email: 'late@example.com' }] })
    const notifications = { id, readByUserIds: ['late'] }
    const update = async () =>
      (await tenant.client.notifications.update({ organizationId: 'org_1', userId: 'late', notifications }))
        .data
    expect(await update()).toEqual({ [id]: failed })
    await tenant.client.users.add({
      organizationId: 'org_1',
      users: [{ userId: 'late', email: 'Late@example.com' }],
    })
    expect(await read(tenant, id, 'late')).toMatchObject({ isUnread: true, forYou: true })
    expect(await update()).toEqual({ [id]: updated })
    expect(await read(tenant, id, 'late')).toMatchObject({ isUnread: false, forYou: false })
  })

  test('[18.3] verifyUserPermissions drops recipients without read access to the document, under v2', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.users(tenant, ['u1'], { documentId: 'doc_1' })
    const notifyUsers = [{ userId: 'u1' }, { userId: 'u2' }, { email: 'nobody@example.com' }]
    const id = await given.notification(tenant, { notifyUsers })
    await client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    const input = { organizationId: 'org_1', verifyUserPermissions: true, notifications: { id } }
    await client.notifications.update(input, { version: 'v1' })
    await client.notifications.update({ ...input, verifyUserPermissions: false })
    expect(await read(tenant, id, 'u2')).toMatchObject({ id })
    expect((await client.notifications.update(input)).data).toEqual({ [id]: updated })
    expect(await read(tenant, id, 'u1')).toMatchObject({ id, notifyUsers: {} })
    expect(await read(tenant, id, 'u2')).toBeUndefined()
  })

  test('[4.17] [0.7.5] update accepts 500 notifications in one call', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ id: n === 0 ? id : `n${n}` }))
    const { data } = await tenant.client.notifications.update({
      organizationId: 'org_1',
      notifications: many(500),
    })
    expect(Object.keys(data).length).toBe(500)
    expect(data).toMatchObject({ [id]: updated, n499: failed })
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['organizationId is required.', { organizationId: '' }],
    ['documentId must be a string.', { documentId: 1 }],
    ['locationId must be a string or an integer.', { locationId: true }],
    ['userId must not be empty.', { userId: ' ' }],
    ['notifications is required.', { notifications: undefined }],
    ['notifications must be an object or an array.', { notifications: 'n1' }],
    ['notifications must not be empty.', { notifications: [] }],
    [
      'notifications must have at most 500 items.',
      { notifications: Array.from({ length: 501 }, (_, n) => ({ id: `n${n}` })) },
    ],
    ['notifications.id is required.', { notifications: { displayBodyMessage: 'x' } }],
    ['notifications[1].id is required.', { notifications: [{ id: 'n1' }, { displayBodyMessage: 'x' }] }],
    ['notifications[0].actionUser must be an object.', { notifications: [{ id: 'n1', actionUser: 'u1' }] }],
    [
      'notifications[0].displayBodyMessage must be a string.',
      { notifications: [{ id: 'n1', displayBodyMessage: null }] },
    ],
    [
      'notifications[0].readByUserIds must be an array.',
      { notifications: [{ id: 'n1', readByUserIds: 'u1' }] },
    ],
    [
      'notifications[0].readByUserIds must have at most 500 items.',
      { notifications: [{ id: 'n1', readByUserIds: Array.from({ length: 501 }, (_, n) => `u${n}`) }] },
    ],
    [
      'notifications.persistReadForUsers must be a boolean.',
      { notifications: { id: 'n1', persistReadForUsers: 'yes' } },
    ],
  ])('[4.17] [0.3] update refuses a faulty body: %s', async (message, change) => {
    const tenant = await given.tenant(server)
    await given.notification(tenant, { notificationId: 'n1' })
    const data = {
      organizationId: 'org_1',
      notifications: [{ id: 'n1', displayBodyMessage: 'x' }],
      ...change,
    }
    const answer = await server.post('/v1/notifications/update', { data }, tenant.headers)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: { status: 'INVALID_ARGUMENT', message } })
    expect(await read(tenant, 'n1')).toMatchObject({
      displayBodyMessage: 'Ready for review.',
      isUnread: true,
    })
  })

  test('[4.17] update works while the notification service is disabled', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant)
    await tenant.client.apiKeyConfig.update({ useNotificationService: false })
    expect(
      (await tenant.client.notifications.update({ organizationId: 'org_1', notifications: { id } })).data,
    ).toEqual({
      [id]: updated,
    })
  })
})
