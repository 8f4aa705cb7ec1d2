import type { NotificationPreferences } from '@plenum/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { advancedPayload, basicPayload } from './payloads.ts'
import { usersNamedIn } from '../../store/erasures/named-users.ts'
import { expectShortIterations } from '../../../test/support/measures/loop-work.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { allowLoopback, useProvider } from '../../../test/support/receivers/permission-provider.ts'
import { annotationId, documentId, organizationId, ref, scene } from '../../../test/rest/webhooks/scene.ts'

afterEach(() => vi.restoreAllMocks())

describe.each(stores)('what webhooks say on %s', (store) => {
  const server = useServer(store, { env: allowLoopback })

  test('[24.5.1] every event about a comment has the annotation and the comment as REST shows them', async () => {
    const { client, signIn, dataOf } = await scene(server)
    const ada = await signIn('ada')
    const of = { ...ref, annotationId }
    const shown = async () =>
      (await client.commentAnnotations.get({ ...ref, annotationIds: [annotationId] })).data
    const { data: ids } = await ada.comments.add({
      ...of,
      commentData: [{ commentText: 'see {{grace}}', from: { userId: 'ada' } }],
    })
    const commentId = ids[0] as number
    const comment = async () => (await client.comments.get({ ...of, commentIds: [commentId] })).data[0]
    const added = await dataOf('comment.add')
    expect(added).toMatchObject({ event: 'comment.add', webhookId: 'msg_1', platform: 'sdk' })
    expect([added.commentAnnotation]).toEqual(await shown())
    expect(added.targetComment).toEqual(await comment())
    expect(added.actionUser).toMatchObject({ userId: 'ada', name: 'ada', email: 'ada@example.com' })

    await ada.comments.update({ ...of, commentIds: [commentId], updatedData: { commentText: 'changed' } })
    expect((await dataOf('comment.update')).targetComment).toEqual(await comment())
    await ada.comments.addReaction({ ...of, commentId, icon: 'HEART' })
    const reacted = await dataOf('comment.reaction_add')
    expect(reacted).toMatchObject({ reaction: { icon: 'HEART' } })
    expect(reacted.targetComment?.reactionAnnotations).toMatchObject([{ icon: 'HEART' }])
    await ada.comments.deleteReaction({ ...of, commentId, icon: 'HEART' })
    expect(await dataOf('comment.reaction_delete')).toMatchObject({
      reaction: { icon: 'HEART' },
      targetComment: { commentId, reactionAnnotations: [] },
    })
    await ada.comments.delete({ ...of, commentIds: [commentId] })
    const deleted = await dataOf('comment.delete')
    expect(deleted.targetComment).toEqual({ commentId })
    expect(deleted.commentAnnotation?.comments).toHaveLength(1)
  })

  test('[24.5.1] [24.5.2] every event about an annotation has what it changed, as it was then', async () => {
    const { client, signIn, dataOf, eventOf, read } = await scene(server)
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    const ada = await signIn('ada')
    const update = (updatedData: object, id = annotationId) =>
      ada.commentAnnotations.update({ ...ref, annotationIds: [id], updatedData })
    await update({ assignedTo: { userId: 'grace' } })
    await update({ priority: { id: 'P1', name: 'High' } })
    await update({ status: { type: 'ongoing' } })
    const ongoing = eventOf('comment_annotation.status_change')
    await update({ status: { type: 'terminal' } })
    await update({ visibility: { type: 'restricted', userIds: ['grace'] } })
    await ada.commentAnnotations.subscribe({ ...ref, annotationId })
    await ada.commentAnnotations.subscribe({ ...ref, annotationId, subscribed: false })
    const commentData = [{ commentText: 'better', from: { userId: 'ada' } }]
    const suggestion = { annotationId: 's1', type: 'suggestion' as const, commentData }
    await ada.commentAnnotations.add({
      ...ref,
      commentAnnotations: [suggestion, { ...suggestion, annotationId: 's2' }],
    })
    await update({ suggestion: { status: 'accepted' } }, 's1')
    await update({ suggestion: { status: 'rejected' } }, 's2')

    const assigned = await dataOf('comment_annotation.assign')
    expect(assigned.assigned).toMatchObject({ userId: 'grace' })
    expect(assigned).not.toHaveProperty('targetComment')
    expect((await dataOf('comment_annotation.priority_change')).newPriority).toEqual({
      id: 'P1',
      name: 'High',
    })
    const status = await read(ongoing)
    expect([status.oldStatus?.id, status.newStatus?.id]).toEqual(['OPEN', 'IN_PROGRESS'])
    expect(status.commentAnnotation?.status).toMatchObject({ id: 'RESOLVED' })
    expect((await dataOf('comment_annotation.access_mode_change')).visibility).toEqual({
      type: 'restricted',
      userIds: ['grace', 'ada'],
    })
    for (const name of ['subscribe', 'unsubscribe'])
      expect(await dataOf(`comment_annotation.${name}`)).toMatchObject({ actionUser: { userId: 'ada' } })
    expect(await dataOf('comment_annotation.suggestion_accept')).toMatchObject({
      commentAnnotation: { annotationId: 's1', suggestion: { status: 'accepted' } },
    })
    expect(await dataOf('comment_annotation.suggestion_reject')).toMatchObject({
      commentAnnotation: { annotationId: 's2', suggestion: { status: 'rejected' } },
    })
    const added = await dataOf('comment_annotation.add')
    expect(added.targetComment).toMatchObject({ commentText: 'better' })
    await update({ assignedTo: null })
    expect((await dataOf('comment_annotation.assign')).assigned).toBeNull()
  })

  test('[24.5.1] a backend is the platform rest, and names the user or nobody', async () => {
    const { client, reply, dataOf } = await scene(server)
    await reply('grace', 'from a backend')
    expect(await dataOf('comment.add')).toMatchObject({ platform: 'rest', actionUser: { userId: 'grace' } })
    const updatedData = { status: { type: 'terminal' as const } }
    await client.commentAnnotations.update({ ...ref, updatedData, triggerNotification: true })
    expect(await dataOf('comment_annotation.status_change')).not.toHaveProperty('actionUser')
  })

  test('[24.5.3] of an annotation or a comment that was deleted meanwhile only the ids are left', async () => {
    const { client, reply, eventOf, read, addThread } = await scene(server)
    const commentId = await reply('grace', 'soon gone')
    const event = eventOf('comment.add')
    await client.comments.delete({ ...ref, annotationId, commentIds: [commentId] })
    const withoutComment = await read(event)
    expect(withoutComment).toMatchObject({ commentAnnotation: { annotationId, comments: [{}] } })
    expect(withoutComment.targetComment).toEqual({ commentId })
    expect(JSON.stringify(withoutComment)).not.toContain('soon gone')
    await client.commentAnnotations.delete({ ...ref, annotationIds: [annotationId] })
    const gone = { annotationId, annotationNumber: 1, isDeleted: true }
    const { commentAnnotation, targetComment } = await read(event)
    expect({ commentAnnotation, targetComment }).toEqual({
      commentAnnotation: gone,
      targetComment: { commentId },
    })
    // Another annotation with the same id is not the one of the event.
    await addThread()
    expect((await read(event)).commentAnnotation).toEqual(gone)
  })

  test('[24.5.4] the metadata has the document and the organization', async () => {
    const { client, apiKey, reply, dataOf } = await scene(server)
    await client.documents.update({
      organizationId,
      documents: [{ documentId, documentName: 'Plan', team: 'red' }],
    })
    await client.organizations.update({ organizations: [{ organizationId, organizationName: 'Acme' }] })
    await reply('ada')
    const data = await dataOf('comment.add')
    const document = { documentId, documentName: 'Plan', team: 'red' }
    expect(data.metadata).toMatchObject({ apiKey, organizationId, documentId, document })
    expect(advancedPayload(data).data.metadata).toMatchObject({
      apiKey,
      document,
      organization: { organizationId, organizationName: 'Acme' },
      pageInfo: {},
    })
    expect(basicPayload(data, 'raw').metadata).toMatchObject({
      apiKey,
      organizationId,
      documentId,
      documentName: 'Plan',
      clientDocumentId: documentId,
      clientOrganizationId: organizationId,
      documentMetadata: document,
      organizationMetadata: { organizationName: 'Acme' },
    })
  })

  test('[24.5.5] preferences of involved users are those for the document if there are any, else those for the organization', async () => {
    const { client, reply, dataOf } = await scene(server, ['ada', 'grace', 'linus'])
    await reply('grace')
    expect(await dataOf('comment.add')).not.toHaveProperty('usersOrganizationNotificationsConfig')
    const choose = (userId: string, config: NotificationPreferences, documentIds?: string[]) =>
      client.notifications.setConfig({
        organizationId,
        userIds: [userId],
        config,
        ...(documentIds && { documentIds }),
      })
    await choose('ada', { inbox: 'ALL', email: 'MINE' })
    await choose('linus', { inbox: 'NONE' })
    const first = await dataOf('comment.add')
    expect(first.usersOrganizationNotificationsConfig).toEqual({ ada: { inbox: 'ALL', email: 'MINE' } })
    await choose('grace', { inbox: 'NONE' }, [documentId])
    await choose('ada', { inbox: 'MINE' }, [documentId])
    const second = await dataOf('comment.add')
    expect(second).not.toHaveProperty('usersOrganizationNotificationsConfig')
    expect(second.usersDocumentNotificationsConfig).toEqual({
      ada: { inbox: 'MINE', email: 'MINE' },
      grace: { inbox: 'NONE' },
    })
    expect(usersNamedIn(second)).toEqual(new Set(['ada', 'grace']))
  })

  test('[24.5.6] accessDeniedUsers are the involved users whom stored grants, the audience or the provider refuse', async () => {
    const { client, reply, dataOf, ...tenant } = await scene(server, ['ada', 'grace', 'linus'])
    await reply('grace', '{{linus}}')
    expect((await dataOf('comment.add')).accessDeniedUsers).toEqual([])
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    await client.users.add({ organizationId, documentId, users: [{ userId: 'ada' }, { userId: 'linus' }] })
    expect((await dataOf('comment.add')).accessDeniedUsers).toEqual(['grace'])
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    await client.commentAnnotations.update({
      ...ref,
      updatedData: { visibility: { type: 'restricted', userIds: ['grace'] } },
    })
    expect((await dataOf('comment.add')).accessDeniedUsers.sort()).toEqual(['grace', 'linus'])
    const provider = await useProvider({ ...tenant, client })
    provider.decide = ({ userId }) => ({ hasAccess: userId === 'grace' })
    expect((await dataOf('comment.add')).accessDeniedUsers.sort()).toEqual(['ada', 'linus'])
  })

  test('[24.5.7] a webhook about a large thread stays below 256 KB: the oldest comments are left out', async () => {
    const { client, reply, dataOf } = await scene(server)
    const commentData = Array.from({ length: 60 }, (_, index) => ({
      commentText: `${index} ${'é'.repeat(4000)}`,
      from: { userId: 'ada' },
    }))
    await client.comments.add({ ...ref, annotationId, commentData })
    await reply('grace', 'newest')
    await expectShortIterations(() => dataOf('comment.add'))
    const data = await dataOf('comment.add')
    const bytes = Buffer.byteLength(JSON.stringify(basicPayload(data, 'processed')))
    expect(bytes).toBeGreaterThan(64 * 1024)
    expect(bytes).toBeLessThan(256 * 1024)
    expect(data.commentAnnotation).toMatchObject({ annotationId, hasMoreComments: true })
    expect(data.commentAnnotation?.comments?.at(-1)).toMatchObject({ commentText: 'newest' })
    expect(data).not.toHaveProperty('isShortened')
  })

  test('[24.5.7] a webhook about a thread with long user profiles stays below 256 KB too', async () => {
    const members = Array.from({ length: 90 }, (_, index) => `user${index}`)
    const { client, reply, dataOf } = await scene(server, ['ada'])
    const photoUrl = `https://example.com/${'x'.repeat(1900)}`
    await client.users.add({
      organizationId,
      users: members.map((userId) => ({ userId, name: 'n'.repeat(400), photoUrl })),
    })
    await reply('ada', members.map((userId) => `{{${userId}}}`).join(' '))
    // The data is serialized again after each of the steps that shorten it.
    await expectShortIterations(() => dataOf('comment.add'), { jsonBytes: 1.5 * 1024 * 1024 })
    const data = await dataOf('comment.add')
    expect(Buffer.byteLength(JSON.stringify(advancedPayload(data)))).toBeLessThan(256 * 1024)
    expect(data).toMatchObject({ isShortened: true, commentAnnotation: { annotationId } })
    expect(data.targetComment?.commentText).toContain('{{user89}}')
  })
})
