import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { hashOf, inbox } from './calls.ts'

const numberOf = (identity: string) => Number.parseInt(hash('sha256', identity, 'hex').slice(0, 13), 16)
const refused = (message: string) => ({ status: 'INVALID_ARGUMENT', message })

describe.each(stores)('notifications.add on %s', (store) => {
  const server = useServer(store)

  const complete = {
    organizationId: 'org_1',
    documentId: 'doc_1',
    actionUser: { userId: 'actor' },
    displayHeadlineMessageTemplate: 'Hello',
    displayBodyMessage: 'World',
    notifyUsers: [{ userId: 'u1' }],
  }

  test('[18.1] add returns the id, and get returns every field that was sent', async () => {
    const tenant = await given.tenant(server)
    const { client, apiKey } = tenant
    await client.organizations.add({
      organizations: [{ organizationId: 'org_1', organizationName: 'Acme', tier: 1 }],
    })
    await client.documents.add({
      organizationId: 'org_1',
      documents: [{ documentId: 'doc_1', documentName: 'Plan' }],
    })
    const added = await client.notifications.add({
      organizationId: 'org_1',
      documentId: 'doc_1',
      actionUser: { userId: 'actor', name: 'Ada', email: 'ada@example.com', team: 'x' },
      displayHeadlineMessageTemplate: '{actionUser} gave {task} to {recipientUser}',
      displayHeadlineMessageTemplateData: {
        actionUser: { userId: 'actor', name: 'Ada' },
        recipientUser: { userId: 'u1', name: 'Grace' },
        task: 'the plan',
      },
      displayBodyMessage: 'Please read.',
      notifyUsers: [{ userId: 'u1', email: 'Grace@Example.com' }, { email: 'alan@example.com' }],
      notifyAll: false,
      notificationId: 'note-1_A',
      notificationSource: 'huddle',
      notificationSourceData: { room: { id: 7 } },
      isNotificationResolverUsed: false,
      context: { access: { widget: 'w1', level: 2 }, other: true },
      locationId: 'place',
      location: { id: 'place', locationName: 'Page 1' },
    })
    expect(added).toEqual({
      message: 'Notification added successfully.',
      data: { success: true, id: 'note-1_A', message: 'Notification added successfully.' },
    })
    expect(await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).toEqual({
      message: 'Notification(s) retrieved successfully.',
      data: [
        {
          id: 'note-1_A',
          notificationSource: 'huddle',
          notificationSourceData: { room: { id: 7 } },
          actionUser: { userId: 'actor', name: 'Ada', email: 'ada@example.com', team: 'x' },
          displayHeadlineMessageTemplate: '{actionUser} gave {task} to {recipientUser}',
          displayHeadlineMessageTemplateData: {
            actionUser: { userId: 'actor', name: 'Ada' },
            recipientUser: { userId: 'u1', name: 'Grace' },
            task: 'the plan',
          },
          displayBodyMessage: 'Please read.',
          isNotificationResolverUsed: false,
          context: { access: { widget: 'w1', level: 2 }, other: true },
          notifyUsers: { [hashOf('grace@example.com')]: true, [hashOf('alan@example.com')]: true },
          notifyUsersByUserId: { [hashOf('u1')]: true },
          metadata: {
            apiKey,
            organizationId: 'org_1',
            documentId: 'doc_1',
            locationId: 'place',
            location: { id: 'place', locationName: 'Page 1' },
            documentMetadata: { documentName: 'Plan' },
            organizationMetadata: { organizationName: 'Acme', tier: 1 },
          },
          timestamp: expect.any(Number),
        },
      ],
    })
  })

  test('[18.1] a generated id has 16 digits, and the default source is custom', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, { notificationId: undefined })
    expect(id).toMatch(/^[1-9]\d{15}$/)
    const { data } = await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data).toEqual([
      {
        id,
        notificationSource: 'custom',
        actionUser: { userId: 'actor' },
        displayHeadlineMessageTemplate: '{actionUser} finished {task}',
        displayBodyMessage: 'Ready for review.',
        notifyUsers: {},
        notifyUsersByUserId: { [hashOf('u1')]: true },
        metadata: {
          apiKey: tenant.apiKey,
          organizationId: 'org_1',
          documentId: 'doc_1',
          documentMetadata: {},
          organizationMetadata: {},
        },
        timestamp: expect.any(Number),
      },
    ])
  })

  test('[0.1.4] [18.1] v1 add ignores the fields that exist only in v2', async () => {
    const { client } = await given.tenant(server)
    await client.notifications.add(
      {
        ...complete,
        createOrganization: true,
        createDocument: true,
        notificationSource: 'comment',
        context: { access: { a: 'b' } },
        isNotificationResolverUsed: true,
        verifyUserPermissions: true,
      },
      { version: 'v1' },
    )
    const { data } = await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({ notificationSource: 'custom' })
    expect(data[0]).not.toHaveProperty('context')
    expect(data[0]).not.toHaveProperty('isNotificationResolverUsed')
    await expect(
      client.notifications.add(
        { ...complete, displayBodyMessage: '', isNotificationResolverUsed: true },
        { version: 'v1' },
      ),
    ).rejects.toMatchObject({ status: 'INVALID_ARGUMENT', message: 'displayBodyMessage is required.' })
  })

  test('[18.1] add does not require the texts when a notification resolver is used', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant, {
      displayHeadlineMessageTemplate: undefined,
      displayBodyMessage: undefined,
      isNotificationResolverUsed: true,
    })
    const { data } = await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({ isNotificationResolverUsed: true })
    expect(data[0]).not.toHaveProperty('displayBodyMessage')
  })

  test('[18.1.2] add with an existing id replaces the document, the content and the recipients of the notification, and marks it unread', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const notificationId = 'same'
    await given.notification(tenant, {
      notificationId,
      notificationSourceData: { old: true },
      notifyUsers: [{ userId: 'u1' }, { userId: 'u2' }],
    })
    await client.notifications.update({
      organizationId: 'org_1',
      notifications: { id: 'same', readByUserIds: ['u1', 'u2'] },
    })
    await given.notification(tenant, {
      notificationId,
      documentId: 'doc_2',
      displayBodyMessage: 'New',
      notifyUsers: [{ userId: 'u2' }],
    })
    const other = await given.notification(tenant, {
      notificationId,
      organizationId: 'org_2',
      notifyUsers: [{ userId: 'u1' }],
    })
    expect(other).toBe('same')

    expect((await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data).toEqual(
      [],
    )
    expect(await inbox(tenant, 'u1')).toEqual([])
    const { data } = await client.notifications.get({ organizationId: 'org_1', userId: 'u2' })
    expect(data).toMatchObject([{ id: 'same', displayBodyMessage: 'New', isUnread: true, forYou: true }])
    expect(data[0]).not.toHaveProperty('notificationSourceData')
  })

  test('[0.8] [18.1] add refuses an unknown organization or document unless its flag is set', async () => {
    const { client } = await given.tenant(server)
    for (const version of ['v1', 'v2'] as const) {
      const organizationId = `org ${version}`
      const add = (flags: { createOrganization?: boolean; createDocument?: boolean }) =>
        client.notifications.add({ ...complete, organizationId, ...flags }, { version })
      await expect(add({})).rejects.toMatchObject(refused('Organization does not exist.'))
      await expect(add({ createDocument: true })).rejects.toMatchObject(
        refused('Organization does not exist.'),
      )
      await expect(add({ createOrganization: true })).rejects.toMatchObject(
        refused('Document does not exist.'),
      )
      expect((await client.organizations.get({ organizationIds: [organizationId] })).data).toEqual([])
      await add({ createOrganization: true, createDocument: true })
      await add({})
      expect((await client.notifications.get({ organizationId, documentId: 'doc_1' })).data.length).toBe(2)
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['organizationId is required.', { organizationId: undefined }],
    ['organizationId is required.', { organizationId: ' ' }],
    ['documentId is required.', { documentId: undefined }],
    ['createDocument must be a boolean.', { createDocument: 1 }],
    ['actionUser is required.', { actionUser: undefined }],
    ['actionUser must be an object.', { actionUser: 'u1' }],
    ['actionUser.userId is required.', { actionUser: { name: 'Ada' } }],
    ['displayHeadlineMessageTemplate is required.', { displayHeadlineMessageTemplate: undefined }],
    ['displayHeadlineMessageTemplate is required.', { displayHeadlineMessageTemplate: ' ' }],
    ['displayBodyMessage is required.', { displayBodyMessage: undefined }],
    ['displayBodyMessage must be a string.', { displayBodyMessage: 3 }],
    [
      'displayHeadlineMessageTemplateData.recipientUser must be a string or an object.',
      { displayHeadlineMessageTemplateData: { recipientUser: 3 } },
    ],
    ['notificationSourceData must be an object.', { notificationSourceData: [] }],
    ['notifyUsers is required.', { notifyUsers: undefined }],
    ['notifyUsers must be an array.', { notifyUsers: {} }],
    ['notifyUsers must not be empty.', { notifyUsers: [], notifyAll: false }],
    [
      'notifyUsers[1] must have a userId or an email.',
      { notifyUsers: [{ userId: 'u1' }, { name: 'Ada', email: ' ' }] },
    ],
    [
      'notifyUsers must have at most 500 items.',
      { notifyUsers: Array.from({ length: 501 }, (_, n) => ({ userId: `u${n}` })) },
    ],
    ['notifyAll must be a boolean.', { notifyAll: 'yes' }],
    ['notificationId may contain only letters, digits, "_" and "-".', { notificationId: 'a b' }],
    ['notificationId must not be empty.', { notificationId: '' }],
    ['notificationSource must be one of: custom, comment, huddle, crdt.', { notificationSource: 'mail' }],
    ['context.access.a must be a string or a number.', { context: { access: { a: true } } }],
    ['locationId must be a string or an integer.', { locationId: {} }],
    ['location must be an object.', { location: 'here' }],
  ])('[18.1] [0.3] add refuses a faulty body: %s', async (message, change) => {
    const tenant = await given.tenant(server)
    await given.notification(tenant)
    const answer = await server.post(
      '/v2/notifications/add',
      { data: { ...complete, ...change } },
      tenant.headers,
    )
    expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } })
    expect(
      (await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data.length,
    ).toBe(1)
  })

  test('[22.5] a missing locationId is derived, as a number, from the id of the location, or from its name if it has no id', async () => {
    const tenant = await given.tenant(server)
    const zero = await given.notification(tenant, { location: { id: 0, locationName: 'Page 1' } })
    const page = await given.notification(tenant, { location: { locationName: 'Page 1' } })
    await given.notification(tenant, {})
    const at = async (locationId: string | number) =>
      (
        await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1', locationId })
      ).data.map((one) => one.id)
    expect(await at(numberOf('0'))).toEqual([zero])
    expect(await at(String(numberOf('Page 1')))).toEqual([page])
    const { data } = await tenant.client.notifications.get({
      organizationId: 'org_1',
      documentId: 'doc_1',
      order: 'asc',
    })
    expect(data.map((one) => one.metadata.locationId)).toEqual([numberOf('0'), numberOf('Page 1'), undefined])
  })

  test('[0.9] add requires the notification service to be enabled', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant)
    await tenant.client.apiKeyConfig.update({ useNotificationService: false })
    await expect(given.notification(tenant)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      message:
        'The notification service is not enabled for this API key. Set useNotificationService to true with /v2/workspace/apikeyconfig/update.',
    })
    expect(await inbox(tenant, 'u1')).toHaveLength(1)
  })
})
