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

  test('[18.2.3] [18.6.2] [18.6.3] a user has nothing of documents that the user may not read, and of a disabled organization', async () => {
    const { client, signIn, inboxOf } = await scene(server)
    const grace = await signIn('grace')
    const other = { organizationId, documentId: 'doc_2' }
    for (const place of [ref, other]) {
      await client.notifications.add({
        ...place,
        createDocument: true,
        actionUser: { userId: 'actor' },
        displayHeadlineMessageTemplate: 'News',
        displayBodyMessage: place.documentId,
        notifyUsers: [{ userId: 'grace' }],
      })
    }
    const read = async () =>
      (await grace.notifications.get({ organizationId })).data.map((one) => one.displayBodyMessage).sort()
    const mark = async (id: string) =>
      (
        await grace.notifications.update({
          organizationId,
          notifications: [{ id, readByUserIds: ['grace'] }],
        })
      ).data[id]?.success
    const config = { inbox: 'MINE' as const }
    const documentIds = [documentId, 'doc_2']
    const setConfig = (ids?: string[]) =>
      grace.notifications.setConfig({
        organizationId,
        userIds: ['grace'],
        config,
        ...(ids && { documentIds: ids }),
      })
    const getConfig = () => grace.notifications.getConfig({ organizationId, userId: 'grace', documentIds })
    expect(await read()).toEqual(['doc_1', 'doc_2'])
    const ids = new Map((await inboxOf('grace')).map((one) => [one.displayBodyMessage, one.id]))
    const noAccess = refused('User does not have access to document')

    const denials = {
      restricted: {
        begin: () =>
          client.documents.updateAccess({ ...ref, documentIds: ['doc_2'], accessType: 'restricted' }),
        end: () => client.documents.updateAccess({ ...ref, documentIds: ['doc_2'], accessType: 'public' }),
      },
      disabled: {
        begin: () => client.documents.updateDisableState({ ...ref, documentIds: ['doc_2'], disabled: true }),
        end: () => client.documents.updateDisableState({ ...ref, documentIds: ['doc_2'], disabled: false }),
      },
    }
    for (const { begin, end } of Object.values(denials)) {
      await begin()
      expect(await read()).toEqual(['doc_1'])
      expect(await mark(ids.get('doc_2') ?? '')).toBe(false)
      await expect(getConfig()).rejects.toEqual(noAccess)
      await expect(setConfig(documentIds)).rejects.toEqual(noAccess)
      await setConfig([documentId])
      // A backend decides itself whom it shows them.
      expect(await inboxOf('grace')).toHaveLength(2)
      await end()
      expect(await read()).toEqual(['doc_1', 'doc_2'])
    }

    await client.organizations.updateDisableState({ organizationIds: [organizationId], disabled: true })
    const disabled = refused('The organization is disabled.')
    await expect(read()).rejects.toEqual(disabled)
    await expect(mark(ids.get('doc_1') ?? '')).rejects.toEqual(disabled)
    await expect(getConfig()).rejects.toEqual(disabled)
    await expect(setConfig()).rejects.toEqual(disabled)
    expect(await inboxOf('grace')).toHaveLength(2)
    await client.organizations.updateDisableState({ organizationIds: [organizationId], disabled: false })
    expect((await inboxOf('grace')).every(({ isUnread }) => isUnread)).toBe(true)
    expect((await getConfig()).data).toMatchObject([
      { config: { inbox: 'MINE' } },
      { config: { inbox: 'ALL' } },
    ])
  })

  test('[18.2.1] [25.6] a notification with an access context is only for users who hold every field of it', async () => {
    const { client, signIn, inboxOf } = await scene(server, ['ada', 'grace', 'linus'])
    const fields = [
      { type: 'context' as const, id: 'team:red', organizationId },
      { type: 'context' as const, id: 'level:2', organizationId },
    ]
    const [red, level] = fields as [(typeof fields)[0], (typeof fields)[0]]
    await client.permissions.add({ user: { userId: 'ada' }, permissions: { resources: [red, level] } })
    await client.permissions.add({ user: { userId: 'grace' }, permissions: { resources: [red] } })
    const { data } = await client.notifications.add({
      ...ref,
      actionUser: { userId: 'actor' },
      displayHeadlineMessageTemplate: 'News',
      displayBodyMessage: 'for few',
      notifyUsers: ['ada', 'grace', 'linus'].map((userId) => ({ userId })),
      context: { access: { team: 'red', level: 2 } },
    })
    const read = async (userId: string, resources: object[] = []) => {
      const own = await (await signIn(userId, resources)).notifications.get({ organizationId })
      return [(await inboxOf(userId)).length, own.data.length]
    }
    expect([await read('ada'), await read('grace'), await read('linus')]).toEqual([
      [1, 1],
      [0, 0],
      [0, 0],
    ])
    expect(await read('linus', fields)).toEqual([0, 1])
    const grace = await signIn('grace')
    const marked = await grace.notifications.update({
      organizationId,
      notifications: [{ id: data.id, readByUserIds: ['grace'] }],
    })
    expect(marked.data[data.id]).toMatchObject({ success: false })
    expect((await client.notifications.get(ref)).data.length).toBe(1)
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
    const hidden = (await client.notifications.get({ ...ref, order: 'asc' })).data[0]?.id as string
    const marked = await grace.notifications.update({
      organizationId,
      notifications: [{ id: hidden, readByUserIds: ['grace'] }],
    })
    expect(marked.data).toEqual({ [hidden]: { success: false, message: 'Failed to update notification.' } })
    expect((await client.notifications.get(ref)).data.length).toBe(2)
    await restrict({ type: 'public' })
    expect(await own()).toEqual(['in b', 'in a1'])
    expect((await inboxOf('grace', { notificationIds: [hidden] }))[0]).toMatchObject({ isUnread: true })
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    expect(await own()).toEqual([])
  })
})
