import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { annotationId, documentId, organizationId, ref, scene } from './scene.ts'

const secondMs = 1000

describe.each(stores)('notifications about events on %s', (store) => {
  const server = useServer(store, { jobPollMs: 20 })
  /** Moves the clock of the server. The job runner polls every 20 ms, so that it notices. */
  const step = (seconds: number) => void (server.clock.offsetMs += seconds * secondMs)

  test('[18.7.4] a notification says who did what, shows the comment with names, and points to it', async () => {
    const { client, reply, inboxOf, expectBodies } = await scene(server)
    await client.users.update({
      organizationId,
      users: [
        { userId: 'ada', name: 'Ada' },
        { userId: 'grace', name: 'Grace' },
      ],
    })
    const commentId = await reply('ada', 'look, {{grace}}')
    await expectBodies('grace', ['look, @Grace'])
    expect(await inboxOf('grace')).toEqual([
      expect.objectContaining({
        notificationSource: 'comment',
        actionType: 'comment.added',
        actionUser: { userId: 'ada', name: 'Ada' },
        displayHeadlineMessageTemplate: '{actionUser} replied to a comment',
        displayHeadlineMessageTemplateData: { actionUser: { userId: 'ada', name: 'Ada' } },
        displayBodyMessage: 'look, @Grace',
        targetAnnotationId: annotationId,
        notificationSourceData: { annotationId, documentId, commentId },
        isUnread: true,
        forYou: true,
      }),
    ])
  })

  test('[18.7.4] long texts are cut, HTML becomes text, and the headline of a change names the new value', async () => {
    const { client, reply, inboxOf, expectBodies, bodiesOf } = await scene(server)
    await reply('ada', 'x'.repeat(9000))
    await expectBodies('grace', [`${'x'.repeat(499)}…`])
    const html = { commentHtml: '<p>a &lt; <b>b</b></p>', from: { userId: 'ada' }, triggerNotification: true }
    await client.comments.add({ ...ref, annotationId, commentData: [html] })
    await expect.poll(async () => (await bodiesOf('grace')).at(-1)).toBe('a < b')
    await client.commentAnnotations.update({
      ...ref,
      annotationIds: [annotationId],
      updatedData: { status: { type: 'terminal' }, assignedTo: { userId: 'grace' } },
      triggerNotification: true,
    })
    const headlines = async () =>
      (await inboxOf('grace')).map((one) => one.displayHeadlineMessageTemplate).slice(0, 2)
    await expect
      .poll(async () => (await headlines()).sort())
      .toEqual([
        '{actionUser} assigned a comment to {assignedUser}',
        '{actionUser} changed the status of a comment to {status}',
      ])
    const [status] = (await inboxOf('grace')).filter((one) => one.actionType === 'comment.statusChanged')
    expect(status).toMatchObject({
      actionUser: { name: 'Someone' },
      displayHeadlineMessageTemplateData: { status: expect.any(String) },
      displayBodyMessage: 'first',
    })
  })

  test('[18.7.2] [27.1.4] events notify only if a user caused them or the backend asked, the service is on, and the trigger is on', async () => {
    const { client, reply, expectBodies, signIn } = await scene(server)
    const silent = (commentText: string) =>
      client.comments.add({ ...ref, annotationId, commentData: [{ commentText, from: { userId: 'ada' } }] })
    await silent('not asked')
    const config = (triggers: object) =>
      client.notificationServiceConfig.update({ notificationServiceConfig: { triggers } })
    await config({ comment: { added: false } })
    await reply('ada', 'trigger off')
    await config({ comment: { added: true } })
    await client.notificationServiceConfig.update({ useNotificationService: false })
    await reply('ada', 'service off')
    await client.notificationServiceConfig.update({ useNotificationService: true })
    const ada = await signIn('ada')
    await ada.comments.add({ ...ref, annotationId, commentData: [{ commentText: 'by the user' }] })
    await expectBodies('grace', ['by the user'])
  })

  test('[18.7.3] a notification waits for its delay, and a user who sees the annotation meanwhile is not notified', async () => {
    const { client, reply, expectBodies, bodiesOf, signIn } = await scene(server, ['ada', 'grace', 'linus'])
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 60 } },
    })
    await reply('ada', 'late')
    const grace = await signIn('grace')
    await grace.commentAnnotations.markViewed({ ...ref, annotationIds: [annotationId] })
    step(50)
    expect(await bodiesOf('linus')).toEqual([])
    step(11)
    await expectBodies('linus', ['late'])
    expect(await bodiesOf('grace')).toEqual([])
    await reply('ada', 'newer')
    step(61)
    await expectBodies('linus', ['late', 'newer'])
    await expectBodies('grace', ['newer'])
  })

  test('[18.7.5] a comment that is deleted before its notification is delivered notifies nobody', async () => {
    const { client, reply, expectBodies } = await scene(server)
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 60 } },
    })
    const commentId = await reply('ada', 'withdrawn')
    await reply('ada', 'kept')
    await client.comments.delete({ ...ref, annotationId, commentIds: [commentId] })
    step(61)
    await expectBodies('grace', ['kept'])
  })

  test('[18.7.6] a batch of a document is delivered when it is full, or when its time is over', async () => {
    const { client, reply, bodiesOf, expectBodies } = await scene(server)
    const document = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 3 }
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { batchConfig: { document } },
    })
    await reply('ada', '1')
    await reply('grace', '2')
    step(30)
    expect(await bodiesOf('grace')).toEqual([])
    await reply('ada', '3')
    await expect.poll(async () => (await bodiesOf('grace')).sort()).toEqual(['1', '3'])
    await expectBodies('ada', ['2'])
    await reply('ada', '4')
    step(30)
    expect(await bodiesOf('ada')).toEqual(['2'])
    expect((await bodiesOf('grace')).length).toBe(2)
    step(31)
    await expect.poll(async () => (await bodiesOf('grace')).sort()).toEqual(['1', '3', '4'])
  })

  test('[18.7.6] a batch of a user collects what the user does in all documents, and the batch that ends first is delivered', async () => {
    const { client, reply, addThread, bodiesOf, expectBodies } = await scene(server)
    const other = { organizationId, documentId: 'doc_2' }
    await client.documents.add({ organizationId, documents: [{ documentId: 'doc_2' }] })
    await addThread('b', {}, other)
    await client.notificationServiceConfig.update({
      notificationServiceConfig: {
        batchConfig: {
          user: { isEnabled: true, batchWindowSeconds: 600, maxActivities: 2 },
          document: { isEnabled: true, batchWindowSeconds: 60, maxActivities: 50 },
        },
      },
    })
    await reply('ada', 'one')
    await reply('grace', 'by grace')
    step(1)
    expect(await bodiesOf('grace')).toEqual([])
    await reply('ada', 'two', { ...other, annotationId: 'b' })
    await expect.poll(async () => (await bodiesOf('grace')).sort()).toEqual(['one', 'two'])
    expect(await bodiesOf('ada')).toEqual([])
    step(61)
    await expectBodies('ada', ['by grace'])
  })

  test('[19.4.2] deleting an annotation removes the notifications about it, and no others', async () => {
    const { client, reply, addThread, expectBodies } = await scene(server)
    await addThread('b')
    await reply('ada', 'in a1')
    await reply('ada', 'in b', { ...ref, annotationId: 'b' })
    await expect.poll(async () => (await client.notifications.get(ref)).data.length).toBe(2)
    await client.commentAnnotations.delete({ ...ref, annotationIds: [annotationId] })
    const left = (await client.notifications.get(ref)).data.map((one) => one.targetAnnotationId)
    expect(left).toEqual(['b'])
    await expectBodies('grace', ['in b'])
    await client.comments.delete({ ...ref, annotationId: 'b' })
    expect((await client.notifications.get(ref)).data).toEqual([])
  })

  test('[10.8] a notification that waits follows its document to another id', async () => {
    const { client, reply, inboxOf } = await scene(server)
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 60 } },
    })
    await reply('ada', 'moving')
    const { data } = await client.documents.migrate({ organizationId, documentId, newDocumentId: 'moved' })
    const { migrationId } = data
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId, migrationId })).data as { status: string }
    await expect.poll(async () => (await status()).status).toBe('completed')
    step(61)
    await expect
      .poll(async () => (await inboxOf('grace')).map((one) => one.metadata.documentId))
      .toEqual(['moved'])
  })
})
