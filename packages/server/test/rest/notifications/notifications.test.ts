import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const hashOf = (value: string) => hash('sha256', value, 'hex').slice(0, 32)
const numberOf = (identity: string) => Number.parseInt(hash('sha256', identity, 'hex').slice(0, 13), 16)
const refused = (message: string) => ({ status: 'INVALID_ARGUMENT', message })

/** Ids of what the user finds, newest first. */
const inbox = async ({ client }: given.Tenant, userId: string) =>
  (await client.notifications.get({ organizationId: 'org_1', userId })).data.map((one) => one.id)

describe.each(stores)('adding notifications on %s', (store) => {
  const server = useServer(store)

  const complete = {
    organizationId: 'org_1',
    documentId: 'doc_1',
    actionUser: { userId: 'actor' },
    displayHeadlineMessageTemplate: 'Hello',
    displayBodyMessage: 'World',
    notifyUsers: [{ userId: 'u1' }],
  }

  test('[18.1] add answers the id, and get shows all that was sent', async () => {
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

  test('[18.1] a generated id has 16 digits, and the source is custom', async () => {
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

  test('[18.1] v1 ignores what only v2 knows', async () => {
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

  test('[18.1] with a resolver the texts may be missing', async () => {
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

  test('[18.1] every user of the organization is notified unless notifyAll is false', async () => {
    const tenant = await given.tenant(server)
    await given.users(tenant, ['u1', 'u2'])
    await given.users(tenant, ['inside'], { documentId: 'doc_1' })
    const all = await given.notification(tenant, {
      notifyAll: undefined,
      notifyUsers: [{ userId: 'guest' }, { userId: 'u2' }],
    })
    const some = await given.notification(tenant, { notifyUsers: [{ userId: 'u2' }] })
    const empty = await given.notification(tenant, { notifyAll: true, notifyUsers: [] })

    const states = async (userId: string) =>
      Object.fromEntries(
        (await tenant.client.notifications.get({ organizationId: 'org_1', userId })).data.map((one) => [
          one.id,
          { isUnread: one.isUnread, forYou: one.forYou },
        ]),
      )
    const named = { isUnread: true, forYou: true }
    const reached = { isUnread: true, forYou: false }
    expect(await states('u1')).toEqual({ [all]: reached, [empty]: reached })
    expect(await states('u2')).toEqual({ [all]: named, [some]: named, [empty]: reached })
    expect(await states('guest')).toEqual({ [all]: named })
    expect(await states('inside')).toEqual({})
    const { data } = await tenant.client.notifications.get({
      organizationId: 'org_1',
      documentId: 'doc_1',
      notificationIds: [all],
    })
    expect(data[0]?.notifyUsersByUserId).toEqual({ [hashOf('guest')]: true, [hashOf('u2')]: true })
  })

  test('[18.1] a membership that has expired is none', async () => {
    const tenant = await given.tenant(server)
    const grant = (userId: string, expiresAt: number) =>
      tenant.client.permissions.add({
        user: { userId },
        permissions: { resources: [{ type: 'organization', id: 'org_1', expiresAt }] },
      })
    const seconds = Math.floor(Date.now() / 1000)
    await grant('gone', seconds - 1)
    await grant('here', seconds + 3600)
    const id = await given.notification(tenant, { notifyAll: true, notifyUsers: [] })
    expect(await inbox(tenant, 'gone')).toEqual([])
    expect(await inbox(tenant, 'here')).toEqual([id])
  })

  test('[18.1] thousands of members are notified in one call', async () => {
    const tenant = await given.tenant(server)
    const userIds = Array.from({ length: 2100 }, (_, index) => `member ${index}`)
    for (let from = 0; from < userIds.length; from += 500)
      await given.users(tenant, userIds.slice(from, from + 500))
    const id = await given.notification(tenant, { notifyAll: true, verifyUserPermissions: true })
    for (const userId of ['member 0', 'member 1000', 'member 2099', 'u1'])
      expect(await inbox(tenant, userId)).toEqual([id])
  })

  test('[18.1] an address stands for the users who have it, then or later', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'u1', email: 'One@Example.com' }] })
    const known = await given.notification(tenant, {
      notifyUsers: [{ email: ' one@example.COM ' }, { userId: 'u1' }],
    })
    const early = await given.notification(tenant, { notifyUsers: [{ email: 'two@example.com' }] })
    expect(await inbox(tenant, 'u1')).toEqual([known])
    expect(await inbox(tenant, 'u2')).toEqual([])
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'u2', email: 'two@example.com' }] })
    expect(await inbox(tenant, 'u2')).toEqual([early])
    expect(await inbox(tenant, 'two@example.com')).toEqual([])
    const { data } = await client.notifications.get({
      organizationId: 'org_1',
      documentId: 'doc_1',
      order: 'asc',
    })
    expect(
      data.map(({ notifyUsers, notifyUsersByUserId }) => ({ notifyUsers, notifyUsersByUserId })),
    ).toEqual([
      { notifyUsers: { [hashOf('one@example.com')]: true }, notifyUsersByUserId: { [hashOf('u1')]: true } },
      { notifyUsers: { [hashOf('two@example.com')]: true }, notifyUsersByUserId: {} },
    ])
  })

  test('[18.1] a user id that looks like an address is still an id', async () => {
    const tenant = await given.tenant(server)
    const id = await given.notification(tenant, {
      notifyUsers: [{ userId: 'a@example.com' }, { email: 'a@example.com' }],
    })
    expect(await inbox(tenant, 'a@example.com')).toEqual([id])
    const { data } = await tenant.client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({
      notifyUsers: { [hashOf('a@example.com')]: true },
      notifyUsersByUserId: { [hashOf('a@example.com')]: true },
    })
  })

  test('[18.1] who is reached by id and by address finds it once', async () => {
    const tenant = await given.tenant(server)
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      ids.unshift(
        await given.notification(tenant, { notifyUsers: [{ userId: 'u1' }, { email: 'u1@example.com' }] }),
      )
      ids.unshift(await given.notification(tenant, { notifyUsers: [{ email: 'u1@example.com' }] }))
    }
    await tenant.client.users.add({
      organizationId: 'org_1',
      users: [{ userId: 'u1', email: 'u1@example.com' }],
    })
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const page = await tenant.client.notifications.get({
        organizationId: 'org_1',
        userId: 'u1',
        pageSize: 3,
        ...(pageToken && { pageToken }),
      })
      seen.push(...page.data.map((one) => one.id))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(seen.length).toBe(10)
    expect(new Set(seen)).toEqual(new Set(ids))
  })

  test('[18.1] actionUser becomes a user', async () => {
    const tenant = await given.tenant(server)
    await given.notification(tenant, { actionUser: { userId: 'ada', email: 'ada@example.com' } })
    const id = await given.notification(tenant, { notifyUsers: [{ email: 'ada@example.com' }] })
    expect(await inbox(tenant, 'ada')).toEqual([id])
  })

  test('[18.1.1] who wants no inbox notifications gets none; MINE is what names the user', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    const members = ['all', 'none', 'none here', 'none but here', 'mine', 'email only']
    await given.users(tenant, members)
    const set = (userId: string, inbox: 'ALL' | 'MINE' | 'NONE', documentIds?: string[]) =>
      client.notifications.setConfig({
        organizationId: 'org_1',
        userIds: [userId],
        documentIds,
        config: { inbox },
      })
    await set('none', 'NONE')
    await set('none here', 'NONE', ['doc_1'])
    await set('none but here', 'NONE')
    await set('none but here', 'ALL', ['doc_1'])
    await set('mine', 'MINE')
    await client.notifications.setConfig({
      organizationId: 'org_1',
      userIds: ['email only'],
      config: { email: 'NONE' },
    })

    const reached = async (fields: Parameters<typeof given.notification>[1]) => {
      const id = await given.notification(tenant, fields)
      const inboxes = await Promise.all(members.map((userId) => inbox(tenant, userId)))
      return members.filter((_, index) => inboxes[index]?.includes(id))
    }
    expect(await reached({ notifyAll: true })).toEqual(['all', 'none but here', 'email only'])
    const named = members.map((userId) => ({ userId }))
    expect(await reached({ notifyUsers: named })).toEqual(['all', 'none but here', 'mine', 'email only'])
    expect(await reached({ notifyUsers: named, documentId: 'doc_2' })).toEqual([
      'all',
      'none here',
      'mine',
      'email only',
    ])
  })

  test('[18.1] verifyUserPermissions drops who may not read the document', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.users(tenant, ['member', 'reader'])
    await given.users(tenant, ['reader'], { documentId: 'doc_1' })
    await client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    const fields = { notifyAll: true, notifyUsers: [{ userId: 'guest' }, { email: 'nobody@example.com' }] }
    const checked = await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'reader')).toEqual([checked])
    expect(await inbox(tenant, 'member')).toEqual([])
    expect(await inbox(tenant, 'guest')).toEqual([])
    const { data } = await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })
    expect(data[0]).toMatchObject({ id: checked, notifyUsers: {}, notifyUsersByUserId: {} })

    const unchecked = await given.notification(tenant, fields)
    expect(await inbox(tenant, 'guest')).toEqual([unchecked])

    await client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'public',
    })
    const open = await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'guest')).toEqual([open, unchecked])
    expect(
      (await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data[0]?.notifyUsers,
    ).toEqual({
      [hashOf('nobody@example.com')]: true,
    })

    const byAddress = { notifyUsers: [{ email: 'nobody@example.com' }], verifyUserPermissions: true }
    await given.notification(tenant, byAddress)
    expect(
      (await client.notifications.get({ organizationId: 'org_1', documentId: 'doc_1' })).data[0]?.notifyUsers,
    ).toEqual({
      [hashOf('nobody@example.com')]: true,
    })

    await client.organizations.updateDisableState({ organizationIds: ['org_1'], disabled: true })
    await given.notification(tenant, { ...fields, verifyUserPermissions: true })
    expect(await inbox(tenant, 'reader')).toEqual([open, unchecked, checked])
  })

  test('[18.1.2] an id that exists is overwritten: moved, new and unread', async () => {
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

  test('[18.1] an unknown organization or document is refused, unless its flag creates it', async () => {
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
  ])('[18.1] %s', async (message, change) => {
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

  test('[22.5] a location without an id of its own is numbered by what identifies it', async () => {
    const tenant = await given.tenant(server)
    const zero = await given.notification(tenant, { location: { id: 0, locationName: 'Page 1' } })
    const page = await given.notification(tenant, { location: { locationName: 'Page 1' } })
    await given.notification(tenant, { location: { x: 1 } })
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

  test('[0.9] add needs the notification service', async () => {
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

  test('[0.2.1] notifications of one API key are unknown to another', async () => {
    const mine = await given.tenant(server)
    const theirs = await given.tenant(server)
    const id = await given.notification(mine, { notificationId: 'same' })
    await given.notification(theirs, { notificationId: 'same', displayBodyMessage: 'Theirs' })
    await theirs.client.notifications.update({
      organizationId: 'org_1',
      notifications: { id, readByUserIds: ['u1'], displayBodyMessage: 'Changed' },
    })
    await theirs.client.notifications.delete({ organizationId: 'org_1', documentId: 'doc_1' })
    const { data } = await mine.client.notifications.get({ organizationId: 'org_1', userId: 'u1' })
    expect(data).toMatchObject([{ id, displayBodyMessage: 'Ready for review.', isUnread: true }])
  })
})
