import { describe, expect, test } from 'vitest'
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

  test('[14.1] [0.5] an export of an unknown user is empty, and a token of another user is refused', async () => {
    const { client } = await scene()
    const { data } = await client.userData.get({ organizationId, userId: 'nobody' })
    const none = { comments: [], reactions: [], recordings: [], notifications: [], activities: [] }
    expect(data).toEqual({ ...none, resources: [] })
    const { nextPageToken } = await client.userData.get({ organizationId, userId: 'ada' })
    await expect(
      client.userData.get({ organizationId, userId: 'grace', pageToken: String(nextPageToken) }),
    ).rejects.toThrow('Invalid page token.')
  })
})
