import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { annotationId, documentId, organizationId, ref, scene as inboxScene } from '../inbox/scene.ts'

describe.each(stores)('activities that come from events on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const base = await inboxScene(server)
    const { client } = base
    await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
    const list = async () => (await client.activities.get({ organizationId, order: 'asc' })).data
    const actions = async () => (await list()).map(({ actionType }) => actionType)
    return { ...base, list, actions }
  }

  test('[21.5] what a user does with comments is recorded with its target, its change and a snapshot', async () => {
    const { signIn, list } = await scene()
    const grace = await signIn('grace')
    const { data } = await grace.comments.add({ ...ref, annotationId, commentData: [{ commentText: 'hi' }] })
    const status = { type: 'terminal' as const }
    await grace.commentAnnotations.update({
      ...ref,
      annotationIds: [annotationId],
      updatedData: { status },
    })
    expect(await list()).toMatchObject([
      {
        featureType: 'comment',
        actionType: 'comment.add',
        eventType: 'comment.add',
        actionUser: { userId: 'grace', name: 'grace' },
        targetEntityId: annotationId,
        targetSubEntityId: String(data[0]),
        entityData: { annotation: { annotationId }, comment: { commentText: 'hi' } },
        immutable: true,
        metadata: { documentId, organizationId },
      },
      {
        actionType: 'comment_annotation.status_change',
        targetEntityId: annotationId,
        changes: { status: { from: { type: 'default' }, to: { type: 'terminal' } } },
      },
    ])
    expect((await list())[0]).not.toHaveProperty('audience')
  })

  test('[21.5] a backend asks for activities with triggerActivities, and the log and the trigger must be on', async () => {
    const { client, actions } = await scene()
    const add = (triggerActivities?: boolean) =>
      client.comments.add({
        ...ref,
        annotationId,
        commentData: [
          {
            commentText: 'x',
            from: { userId: 'ada' },
            ...(triggerActivities !== undefined && { triggerActivities }),
          },
        ],
      })
    const config = (activityServiceConfig: object) => client.activityConfig.update({ activityServiceConfig })
    await add()
    expect(await actions()).toEqual([])
    await add(true)
    expect(await actions()).toEqual(['comment.add'])
    await config({ triggers: { comment: { added: false } } })
    await add(true)
    await config({ isEnabled: false, triggers: { comment: { added: true } } })
    await add(true)
    expect(await actions()).toEqual(['comment.add'])
  })

  test('[21.5.1] deleting a thread is recorded with the trigger of deleted comments, and a large comment only by its id', async () => {
    const { client, signIn, list, actions } = await scene()
    await client.activityConfig.update({
      activityServiceConfig: { triggers: { comment: { newlyAdded: false } } },
    })
    const ada = await signIn('ada')
    const commentData = [{ commentText: 'x'.repeat(9000) }]
    const { data } = await ada.comments.add({ ...ref, annotationId, commentData })
    expect((await list())[0]?.entityData).toEqual({
      annotation: { annotationId, annotationNumber: 1 },
      comment: { commentId: data[0] },
    })
    await ada.commentAnnotations.delete({ ...ref, annotationIds: [annotationId] })
    expect(await actions()).toEqual(['comment.add', 'comment_annotation.delete'])
  })

  test('[21.5.1] the activities of a call have a large annotation once, and then its ids', async () => {
    const { signIn, list } = await scene()
    const ada = await signIn('ada')
    const added = async (annotationId: string, text: string) => {
      const comments = ['one', 'two', 'three'].map((commentText) => ({ commentText }))
      const annotation = { annotationId, context: { text }, commentData: comments }
      await ada.commentAnnotations.add({ ...ref, commentAnnotations: [annotation] })
      const own = (await list()).filter((one) => one.targetEntityId === annotationId)
      expect(own.map(({ entityData }) => entityData)).toMatchObject(
        comments.map((comment) => ({ annotation: { annotationId }, comment })),
      )
      const contexts = own.map(({ entityData }) => (entityData as { annotation: object }).annotation)
      return contexts.filter((one) => 'context' in one).length
    }
    expect(await added('large', 'x'.repeat(1500))).toBe(1)
    expect(await added('small', 'x')).toBe(3)
  })

  test('[21.2.2] [25.6] a user reads the activities of a document, except those about annotations that the user may not see', async () => {
    const { client, signIn, addThread } = await scene()
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    const [ada, grace] = [await signIn('ada'), await signIn('grace')]
    await addThread('secret', { visibility: { type: 'restricted', userIds: ['ada'] } })
    for (const id of [annotationId, 'secret']) {
      await ada.comments.add({ ...ref, annotationId: id, commentData: [{ commentText: id }] })
    }
    const seen = async (client: typeof ada, filter: object = {}) =>
      (await client.activities.get({ ...ref, ...filter })).data.map((one) => one.targetEntityId).sort()
    expect(await seen(ada)).toEqual([annotationId, 'secret'])
    expect(await seen(grace)).toEqual([annotationId])
    expect(await seen(grace, { pageSize: 1 })).toEqual([annotationId])
    expect(await seen(grace, { targetEntityId: 'secret' })).toEqual([])
    const change = (visibility: object) =>
      client.commentAnnotations.update({
        ...ref,
        annotationIds: ['secret'],
        updatedData: { visibility } as never,
      })
    await change({ type: 'public' })
    expect(await seen(grace)).toEqual([annotationId, 'secret'])
    await change({ type: 'restricted', userIds: ['ada'] })
    await client.commentAnnotations.delete({ ...ref, annotationIds: ['secret'] })
    expect(await seen(grace)).toEqual([annotationId])
    // Another annotation with the id of the deleted one does not show what happened to that.
    const again = { annotationId: 'secret', commentData: [{ commentText: 'mine' }] }
    await grace.commentAnnotations.add({ ...ref, commentAnnotations: [again] })
    expect(await seen(grace)).toEqual([annotationId, 'secret'])
    await expect(grace.activities.get({ organizationId })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'documentId is required.',
    })
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    await expect(grace.activities.get(ref)).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
  })
})
