import { describe, expect, test } from 'vitest'
import { seed } from '../../support/data/large-data.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' }
const grace = { userId: 'grace' }

describe.each(stores)('userData.get on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    await client.users.add({ organizationId, users: [ada, grace] })
    const comment = (index: number) => ({ commentText: `comment ${index}`, from: index % 2 ? ada : grace })
    for (const annotationId of ['a1', 'a2', 'a3']) {
      await client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [
          { annotationId, commentData: Array.from({ length: 100 }, (_, index) => comment(index)) },
        ],
      })
    }
    const { data } = await client.comments.add({
      ...ref,
      annotationId: 'a3',
      commentData: [{ commentText: 'Look, {{ada}}!', from: grace }],
    })
    const commentId = Number(data[0])
    for (const icon of ['HEART_FACE', 'ROCKET']) {
      await client.comments.addReaction({ ...ref, annotationId: 'a3', commentId, icon, userId: 'ada' })
    }
    await client.comments.addReaction({
      ...ref,
      annotationId: 'a3',
      commentId,
      icon: 'EYES',
      userId: 'grace',
    })
    await given.notification(tenant, { notificationId: 'n1', notifyUsers: [ada] })
    await given.notification(tenant, { notificationId: 'n2', notifyUsers: [grace] })
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    const activity = { featureType: 'custom' as const, actionType: 'seen', targetEntityId: 'x' }
    await client.activities.add({
      ...ref,
      activities: [
        { ...activity, id: 'act_1', actionUser: ada },
        { ...activity, id: 'act_2', actionUser: grace },
      ],
    })
    return { ...tenant, commentId }
  }

  test('[14.1] [14.1.1] the pages of an export have at most 100 items of each list, and together everything about the user', async () => {
    const { client, commentId } = await scene()
    const pages = []
    let pageToken: string | undefined
    do {
      const answer = await client.userData.get({
        organizationId,
        userId: 'ada',
        ...(pageToken && { pageToken }),
      })
      expect(answer.message).toBe('Data fetched successfully.')
      pages.push(answer.data)
      pageToken = answer.nextPageToken
    } while (pageToken)
    expect(pages.map(({ comments }) => comments.length)).toEqual([100, 51])
    expect(pages.map(({ user }) => user?.userId)).toEqual(['ada', undefined])
    expect(pages[0]).toMatchObject({
      user: ada,
      resources: [{ type: 'organization', id: organizationId, accessRole: 'editor' }],
      reactions: [],
      recordings: [],
    })
    const comments = pages.flatMap((page) => page.comments)
    expect(new Set(comments.map((one) => `${one.annotationId} ${one.commentId}`)).size).toBe(151)
    expect(comments.filter(({ from }) => from.userId === 'ada')).toHaveLength(150)
    expect(comments.at(-1)).toMatchObject({ documentId, annotationId: 'a3', commentText: 'Look, {{ada}}!' })
    const last = pages.at(-1)
    const where = { documentId, annotationId: 'a3', commentId, createdAt: expect.any(Number) }
    expect(last?.reactions).toEqual([
      { ...where, icon: 'HEART_FACE' },
      { ...where, icon: 'ROCKET' },
    ])
    expect(last?.notifications.map(({ id }) => id)).toEqual(['n1'])
    expect(last?.activities.map(({ id }) => id)).toEqual(['act_1'])
  })

  test('[14.1.2] an export has the groups, preferences, involvements, caused notifications, presence and versions of the user', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    await client.users.add({ organizationId, users: [ada, grace] })
    const group = { groupId: 'g', groupName: 'Engineering' }
    await client.userGroups.add({
      organizationId,
      organizationUserGroups: [group, { ...group, groupId: 'h' }],
    })
    for (const [organizationUserGroupId, userId] of [
      ['g', 'ada'],
      ['h', 'grace'],
    ] as const) {
      await client.userGroups.addUsers({ organizationId, organizationUserGroupId, userIds: [userId] })
    }
    const [wanted, other] = [{ email: 'NONE' }, { inbox: 'MINE' }] as const
    await client.notifications.setConfig({ organizationId, userIds: ['ada'], config: wanted })
    await client.notifications.setConfig({
      ...ref,
      userIds: ['ada', 'grace'],
      documentIds: [documentId],
      config: other,
    })
    const commentData = [{ commentText: '{{grace}}', from: grace }]
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'a1', commentData, assignedTo: ada },
        { annotationId: 'a2', commentData },
      ],
    })
    await client.commentAnnotations.subscribe({ ...ref, annotationId: 'a2', userId: 'ada' })
    // More than one page, between those of another user.
    for (let index = 0; index < 3; index++) {
      await given.notification(tenant, {
        notificationId: `caused${index}`,
        actionUser: ada,
        notifyUsers: [grace],
      })
      await given.notification(tenant, {
        notificationId: `other${index}`,
        actionUser: grace,
        notifyUsers: [grace],
      })
    }
    await client.presence.add({ ...ref, users: [{ userId: 'ada', name: 'Ada' }, { userId: 'grace' }] })
    const editor = { ...ref, editorId: 'notes' }
    await client.crdt.add({ ...editor, type: 'text', data: 'x' })
    const { data: version } = await client.crdtVersions.add({ ...editor, name: 'One', userId: 'ada' })
    await client.crdtVersions.add({ ...editor, name: 'Two', userId: 'grace' })

    const { data, nextPageToken } = await client.userData.get({ organizationId, userId: 'ada' })
    expect(nextPageToken).toBeUndefined()
    expect(data.groups).toEqual([group])
    expect(data.preferences).toEqual([
      { documentId: '', config: wanted },
      { documentId, config: other },
    ])
    expect(data.involvements).toEqual([
      { documentId, annotationId: 'a1', involvement: 'assigned' },
      { documentId, annotationId: 'a2', involvement: 'subscribed' },
    ])
    expect(data.causedNotifications.map(({ id }) => id)).toEqual(['caused0', 'caused1', 'caused2'])
    expect(data.presence).toEqual([
      { documentId, status: 'online', name: 'Ada', lastUpdated: expect.any(Number) },
    ])
    expect(data.versions).toEqual([{ documentId, editorId: 'notes', versionId: version.versionId }])
  })

  test('[14.1.2] an export continues in the middle of the notifications that a user caused, however many others there are', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant, 'd1')
    const rows = seed(server.database, tenant.apiKey, organizationId)
    await rows.notifications(6_000, 1)
    await server.database.write((db) =>
      db
        .updateTable('notifications')
        .set({ data: JSON.stringify({ notificationSource: 'custom', actionUser: { userId: 'grace' } }) })
        .where('api_key', '=', tenant.apiKey)
        .execute(),
    )
    await server.database.write((db) =>
      db
        .updateTable('notifications')
        .set({ data: JSON.stringify({ notificationSource: 'custom', actionUser: { userId: 'ada' } }) })
        .where('api_key', '=', tenant.apiKey)
        .where('timestamp', '>', 5_850)
        .execute(),
    )
    const found: string[] = []
    let pages = 0
    for (let pageToken: string | undefined = ''; pageToken !== undefined; pages++) {
      const answer: { data: { causedNotifications: { id: string }[] }; nextPageToken?: string } =
        await tenant.client.userData.get({ organizationId, userId: 'ada', ...(pageToken && { pageToken }) })
      expect(answer.data.causedNotifications.length).toBeLessThanOrEqual(100)
      found.push(...answer.data.causedNotifications.map(({ id }) => id))
      pageToken = answer.nextPageToken
    }
    expect(new Set(found).size).toBe(150)
    expect(found).toHaveLength(150)
    expect(pages).toBeGreaterThan(1)
  })

  test('[14.1] [0.5] an export of an unknown user is empty, and a token of another user is refused', async () => {
    const { client } = await scene()
    const { data } = await client.userData.get({ organizationId, userId: 'nobody' })
    const none = { comments: [], reactions: [], recordings: [], notifications: [], activities: [] }
    const further = { groups: [], preferences: [], involvements: [], causedNotifications: [] }
    expect(data).toEqual({ ...none, ...further, presence: [], versions: [], resources: [] })
    const { nextPageToken } = await client.userData.get({ organizationId, userId: 'ada' })
    await expect(
      client.userData.get({ organizationId, userId: 'grace', pageToken: String(nextPageToken) }),
    ).rejects.toThrow('Invalid page token.')
  })
})
