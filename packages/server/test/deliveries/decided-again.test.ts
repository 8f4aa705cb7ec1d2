import { describe, expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { useProvider } from '../support/receivers/permission-provider.ts'
import { useMailServer } from './mail-scene.ts'
import { documentId, organizationId, ref } from './scene.ts'

describe.each(stores)('mails that wait for another attempt on %s', (store) => {
  const { server, refused, mailScene } = useMailServer(store)

  /** A tenant whose mails to Grace the mail server refuses for now. */
  async function waitingScene() {
    const tenant = await mailScene()
    const { client, addressOf, deliveries, setEmail } = tenant
    await setEmail(['ada', 'alan'], 'NONE')
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    refused.set(addressOf('grace'), 451)
    const mail = async () => (await deliveries()).find(({ userId }) => userId === 'grace')
    const update = (updatedData: object, annotationId = 'a1') =>
      client.commentAnnotations.update({ ...ref, annotationIds: [annotationId], updatedData })
    const firstCommentId = async (annotationId = 'a1') =>
      (await client.comments.get({ ...ref, annotationId })).data[0]?.commentId as number
    /** The mail server accepts everything again, and the next attempt is due. */
    const tryAgain = () => {
      refused.delete(addressOf('grace'))
      server.clock.offsetMs += 7 * 60_000
    }
    return { ...tenant, mail, update, firstCommentId, tryAgain }
  }
  type Waiting = Awaited<ReturnType<typeof waitingScene>>

  /** A mail to Grace that the mail server has refused once. Its thread has one comment of Ada. */
  async function waitingMail() {
    const tenant = await waitingScene()
    await tenant.addThread('a1', 'The first text')
    await expect.poll(tenant.mail).toMatchObject({ status: 'pending', lastStatusCode: 451 })
    return tenant
  }

  const accessTo = (userId: string) => ({ ...ref, users: [{ userId }] })
  const restrict = ({ client }: Waiting) =>
    client.documents.updateAccess({ organizationId, documentIds: [documentId], accessType: 'restricted' })
  const disabled = true

  const changes: Record<
    string,
    { before?: (waiting: Waiting) => unknown; after: (waiting: Waiting) => unknown }
  > = {
    'the thread was deleted': {
      after: ({ client }) => client.commentAnnotations.delete({ ...ref, annotationIds: ['a1'] }),
    },
    'another thread has its id': {
      async after({ client }) {
        await client.commentAnnotations.delete({ ...ref, annotationIds: ['a1'] })
        const commentData = [{ commentText: 'Another text', from: { userId: 'ada' } }]
        await client.commentAnnotations.add({
          ...ref,
          commentAnnotations: [{ annotationId: 'a1', commentData }],
        })
      },
    },
    'the comment was deleted': {
      after: async ({ client, firstCommentId }) =>
        client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [await firstCommentId()] }),
    },
    'the thread became private': {
      after: ({ update }) => update({ visibility: { type: 'restricted', userIds: ['alan'] } }),
    },
    'the document was deleted': {
      after: ({ client }) => client.documents.delete({ organizationId, documentIds: [documentId] }),
    },
    'the document was restricted': { after: restrict },
    'the grant of the user was removed': {
      async before(waiting) {
        await waiting.client.users.add(accessTo('grace'))
        await restrict(waiting)
      },
      after: ({ client }) => client.users.delete({ ...ref, userIds: ['grace'] }),
    },
    'the document was disabled': {
      after: ({ client }) =>
        client.documents.updateDisableState({ organizationId, documentIds: [documentId], disabled }),
    },
    'the organization was disabled': {
      after: ({ client }) =>
        client.organizations.updateDisableState({ organizationIds: [organizationId], disabled }),
    },
    'the user left the organization': {
      before: ({ client }) => client.users.add({ organizationId: 'org_2', users: [{ userId: 'grace' }] }),
      after: ({ client }) => client.users.delete({ organizationId, userIds: ['grace'] }),
    },
    'the user unsubscribed from the thread': {
      after: ({ client }) =>
        client.commentAnnotations.subscribe({
          ...ref,
          annotationId: 'a1',
          userId: 'grace',
          subscribed: false,
        }),
    },
    'the user has seen the thread': {
      after: ({ client }) =>
        client.commentAnnotations.markViewed({ ...ref, annotationIds: ['a1'], userId: 'grace' }),
    },
    'the user has no address any more': {
      after: ({ client }) =>
        client.users.update({ organizationId, users: [{ userId: 'grace', email: null }] }),
    },
  }

  test.each(Object.entries(changes))(
    '[3.3.4] a mail that waits is cancelled if %s',
    async (_, { before, after }) => {
      const waiting = await waitingScene()
      await before?.(waiting)
      await waiting.addThread('a1', 'The first text')
      await expect.poll(waiting.mail).toMatchObject({ status: 'pending', lastStatusCode: 451 })
      await after(waiting)
      waiting.tryAgain()
      await expect.poll(waiting.mail).toMatchObject({ status: 'cancelled' })
      expect(waiting.mailsTo('grace')).toEqual([])
    },
  )

  test('[3.3.4] a mail that waits has the text, the names and the address of the time when it is sent', async () => {
    const { client, mail, firstCommentId, tryAgain, mailsTo, addressOf } = await waitingMail()
    await client.comments.update({
      ...ref,
      annotationId: 'a1',
      commentIds: [await firstCommentId()],
      updatedData: { commentText: 'The second text' },
    })
    await client.users.update({
      organizationId,
      users: [
        { userId: 'ada', name: 'Ada King' },
        { userId: 'grace', email: addressOf('new') },
      ],
    })
    tryAgain()
    await expect.poll(mail).toMatchObject({ status: 'delivered', target: addressOf('new') })
    expect(mailsTo('grace')).toEqual([])
    const [received] = mailsTo('new')
    expect(received?.mail.from?.name).toBe('Ada King via Acme')
    expect(received?.mail.text).toContain('The second text')
    expect(received?.raw).not.toContain('The first text')
  })

  test('[3.3.4] a mail about a changed status says what the event changed, although the status was changed again', async () => {
    const { client, mail, tryAgain, mailsTo, addThread, update, setEmail } = await waitingScene()
    await setEmail(['grace'], 'NONE')
    await addThread('a1', 'The first text')
    await expect
      .poll(async () => (await client.notifications.get({ organizationId, userId: 'grace' })).data.length)
      .toBe(1)
    await setEmail(['grace'], 'ALL')
    const done = { id: 'DONE', name: 'Done', type: 'terminal' }
    const changed = { ...ref, annotationIds: ['a1'], triggerNotification: true }
    await client.commentAnnotations.update({ ...changed, updatedData: { status: done as never } })
    await expect.poll(mail).toMatchObject({ status: 'pending', lastStatusCode: 451 })
    await update({ status: { type: 'ongoing' } })
    tryAgain()
    await expect.poll(() => mailsTo('grace').map(({ mail: sent }) => sent.subject)).toMatchObject([/Done/])
  })

  test('[3.3.4] a mail that waits is sent although its document has another id by now', async () => {
    const { client, mail, tryAgain, mailsTo } = await waitingMail()
    const { data } = await client.documents.migrate({ organizationId, documentId, newDocumentId: 'moved' })
    const status = async () =>
      (await client.documents.migrateStatus({ organizationId, migrationId: data.migrationId })).data.status
    await expect.poll(status).toBe('completed')
    tryAgain()
    await expect.poll(mail).toMatchObject({ status: 'delivered' })
    expect(mailsTo('grace')[0]?.mail.text).toContain('The first text')
  })

  test('[3.3.4] a mail that waits is tried later while the permission provider gives no answer, and cancelled when it denies access', async () => {
    const { mail, tryAgain, mailsTo, ...tenant } = await waitingMail()
    const provider = await useProvider(tenant)
    provider.decide = () => undefined
    tryAgain()
    await expect.poll(mail).toMatchObject({
      status: 'pending',
      lastError: 'The permission provider gave no answer.',
    })
    provider.decide = () => ({ hasAccess: false })
    server.clock.offsetMs += 40 * 60_000
    await expect.poll(mail).toMatchObject({ status: 'cancelled' })
    expect(mailsTo('grace')).toEqual([])
  })

  test('[3.3.4] a mail that an earlier version has stored with its text has the text of now', async () => {
    const { client, apiKey, mail, firstCommentId, tryAgain, mailsTo } = await waitingMail()
    const [comment] = (await client.comments.get({ ...ref, annotationId: 'a1' })).data
    const item = {
      event: 'comment_annotation.add',
      actor: { userId: 'ada', name: 'The ada' },
      annotationId: 'a1',
      commentText: 'The first text',
      timestamp: comment?.createdAt,
      status: 'Open',
      namedUserIds: ['ada'],
    }
    const content = { kind: 'event', company: 'Acme', items: [item] }
    await server.database.write((db) =>
      db
        .updateTable('delivery_messages')
        .set({ data: JSON.stringify({ ...ref, content }) })
        .where('api_key', '=', apiKey)
        .execute(),
    )
    await client.comments.update({
      ...ref,
      annotationId: 'a1',
      commentIds: [await firstCommentId()],
      updatedData: { commentText: 'The second text' },
    })
    tryAgain()
    await expect.poll(mail).toMatchObject({ status: 'delivered' })
    const [received] = mailsTo('grace')
    expect(received?.mail.subject).toContain('The ada')
    expect(received?.mail.text).toContain('The second text')
    expect(received?.raw).not.toContain('The first text')
  })

  test('[3.3.4] a digest that waits leaves out what its recipient may not see any more', async () => {
    const { client, mail, update, tryAgain, mailsTo, addThread } = await waitingScene()
    const batch = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 3 }
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { batchConfig: { document: batch } },
    })
    for (const id of ['a1', 'a2', 'a3']) await addThread(id, `The text of ${id}`)
    await expect.poll(mail).toMatchObject({ status: 'pending', lastStatusCode: 451 })
    await client.commentAnnotations.delete({ ...ref, annotationIds: ['a1'] })
    await update({ visibility: { type: 'restricted', userIds: ['alan'] } }, 'a2')
    tryAgain()
    await expect.poll(mail).toMatchObject({ status: 'delivered' })
    const [received] = mailsTo('grace')
    expect(received?.mail.text).toContain('The text of a3')
    expect(received?.raw).not.toMatch(/The text of a[12]/)
  })
})
