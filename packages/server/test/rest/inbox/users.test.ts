import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { annotationId, documentId, organizationId, ref, scene } from './scene.ts'

const refused = (message: string) => expect.objectContaining({ status: 'PERMISSION_DENIED', message })

describe.each(stores)('the inbox of a user on %s', (store) => {
  const server = useServer(store)

  test('[18.2.2] [18.3.2] a user reads the own inbox, marks own notifications as read, and nothing else', async () => {
    const { reply, signIn, expectBodies, inboxOf } = await scene(server, ['ada', 'grace', 'linus'])
    await reply('ada')
    await expectBodies('linus', ['reply'])
    const grace = await signIn('grace')
    const [notification] = (await grace.notifications.get({ organizationId })).data
    expect(notification).toMatchObject({ displayBodyMessage: 'reply', isUnread: true })
    const id = notification?.id as string
    const update = (change: object, more: object = {}) =>
      grace.notifications.update({ organizationId, notifications: [{ id, ...change }], ...more })
    await expect(grace.notifications.get({ organizationId, userId: 'linus' })).rejects.toEqual(
      refused('userId must be the user of the token.'),
    )
    await expect(update({}, { userId: 'linus' })).rejects.toEqual(
      refused('userId must be the user of the token.'),
    )
    await expect(update({ readByUserIds: ['grace', 'linus'] })).rejects.toEqual(
      refused('notifications[0].readByUserIds must be the user of the token.'),
    )
    await expect(update({ displayBodyMessage: 'forged' })).rejects.toEqual(
      refused('notifications[0].displayBodyMessage can only be sent with the credentials of an API key.'),
    )
    await expect(update({}, { verifyUserPermissions: true })).rejects.toEqual(
      refused('verifyUserPermissions can only be sent with the credentials of an API key.'),
    )
    await update({ readByUserIds: ['grace'] })
    expect((await grace.notifications.get({ organizationId })).data).toMatchObject([{ isUnread: false }])
    expect(await inboxOf('linus')).toMatchObject([{ isUnread: true, displayBodyMessage: 'reply' }])
    const ada = await signIn('ada')
    const { data } = await ada.notifications.update({
      organizationId,
      notifications: [{ id, readByUserIds: ['ada'] }],
    })
    expect(data[id]).toMatchObject({ success: false })
    await expect(grace.notifications.delete({ organizationId, notificationIds: [id] })).rejects.toMatchObject(
      { status: expect.stringMatching(/INVALID_ARGUMENT|PERMISSION_DENIED|UNAUTH/) },
    )
  })

  test('[18.6.1] a user reads and sets only the own preferences', async () => {
    const { signIn } = await scene(server)
    const grace = await signIn('grace')
    const config = { inbox: 'MINE' as const }
    await grace.notifications.setConfig({ organizationId, userIds: ['grace'], config })
    const { data } = await grace.notifications.getConfig({
      organizationId,
      userId: 'grace',
      documentIds: [documentId],
    })
    expect(data).toMatchObject([{ config: { inbox: 'MINE' }, metadata: { userId: 'grace' } }])
    await expect(
      grace.notifications.setConfig({ organizationId, userIds: ['grace', 'ada'], config }),
    ).rejects.toEqual(refused('userIds must be the user of the token.'))
    await expect(
      grace.notifications.getConfig({ organizationId, userId: 'ada', documentIds: [documentId] }),
    ).rejects.toEqual(refused('userId must be the user of the token.'))
  })

  test('[18.2.1] [25.6] a notification about a comment is hidden from a user who no longer sees the annotation or the document', async () => {
    const { client, reply, signIn, expectBodies, inboxOf, addThread } = await scene(server)
    await addThread('b')
    await reply('ada', 'in a1')
    await expectBodies('grace', ['in a1'])
    await reply('ada', 'in b', { ...ref, annotationId: 'b' })
    await expectBodies('grace', ['in a1', 'in b'])
    const grace = await signIn('grace')
    const own = async (filter: object = {}) =>
      (await grace.notifications.get({ organizationId, ...filter })).data.map((one) => one.displayBodyMessage)
    const restrict = (visibility: object) =>
      client.commentAnnotations.update({
        ...ref,
        annotationIds: [annotationId],
        updatedData: { visibility } as never,
      })
    expect(await own()).toEqual(['in b', 'in a1'])
    await restrict({ type: 'restricted', userIds: ['ada'] })
    expect(await own()).toEqual(['in b'])
    expect(await own({ pageSize: 1, order: 'asc' })).toEqual(['in b'])
    expect((await inboxOf('grace')).length).toBe(1)
    expect((await client.notifications.get(ref)).data.length).toBe(2)
    await restrict({ type: 'public' })
    expect(await own()).toEqual(['in b', 'in a1'])
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    expect(await own()).toEqual([])
  })
})
