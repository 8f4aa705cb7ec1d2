import type { Thread } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/clients/convergence.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'

describe.each(stores)('conversations through the client on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, documentId)
    const { client } = tenant
    const grant = (userId: string, accessRole: 'viewer' | 'editor' = 'editor') =>
      client.permissions.add({
        user: { userId },
        permissions: { resources: [{ type: 'document', id: documentId, organizationId, accessRole }] },
      })
    await client.apiKeyConfig.update({ enablePrivateComments: true })
    const open = async (userId: string, options: object = {}) => {
      const connection = plenumConnection(client, await tokenFor(tenant, userId), options)
      const document = connection.document(organizationId, documentId)
      document.threads.subscribe(() => {})
      const inbox = connection.inbox(organizationId)
      inbox.subscribe(() => {})
      await eventually(() => document.threads.isLoading || inbox.isLoading).toBe(false)
      return { connection, document, threads: document.threads, inbox }
    }
    return { ...tenant, grant, open }
  }
  type User = Awaited<ReturnType<Awaited<ReturnType<typeof scene>>['open']>>
  /** What the inbox of a user shows, newest first, and its number of unread notifications. */
  const expectInbox = ({ inbox }: User, unreadCount: number, shown: string[]) =>
    eventually(() => ({
      unreadCount: inbox.unreadCount,
      shown: inbox.notifications.map(
        ({ actionUser, actionType, displayBodyMessage }) =>
          `${actionUser.userId} ${actionType}: ${displayBodyMessage}`,
      ),
    })).toEqual({ unreadCount, shown })
  /** How many threads a user may see, and how many of these are unread. */
  const expectCount = async ({ connection }: User, total: number, unread: number) => {
    const userId = connection.userId as string
    const { data } = await connection.operations.commentAnnotations.count({
      organizationId,
      documentIds: [documentId],
      userId,
    })
    expect(data).toEqual({ [documentId]: { total, unread } })
  }
  const idsOf = ({ threads }: { threads: readonly Thread[] }) => threads.map((one) => one.annotationId).sort()

  test('[R54] [25.6] [K17] [K18] [R55] two users and a viewer talk about a document, in public and in private, until one of them loses access, and find in their inboxes what concerns them', async () => {
    const { grant, open, client: backend } = await scene()
    await grant('ada')
    await grant('grace')
    await grant('vera', 'viewer')
    const [ada, grace, vera] = [await open('ada'), await open('grace'), await open('vera')]
    const threadOf = ({ threads }: typeof ada, id: string) =>
      threads.threads.find((one) => one.annotationId === id)

    // Ada starts a thread and mentions Grace. Everybody sees it at once; for the others it is unread.
    const id = await ada.threads.add({ commentText: 'Is this number right, {{grace}}?' })
    for (const user of [ada, grace, vera]) await eventually(() => idsOf(user.threads)).toEqual([id])
    expect(threadOf(grace, id)).toMatchObject({ mentionedUserIds: ['grace'], unread: true })
    expect(threadOf(ada, id)?.unread).toBe(false)
    const text = 'Is this number right, @Name of grace?'
    const question = `ada comment.newlyAdded: ${text}`
    await expectInbox(grace, 1, [question])
    await expectInbox(ada, 0, [])
    await expectCount(grace, 1, 1)
    await expectCount(vera, 1, 1)

    // Grace reads and answers. A viewer can read, but not answer.
    await grace.threads.markViewed(id)
    expect(threadOf(grace, id)?.unread).toBe(false)
    await expectCount(grace, 1, 0)
    await grace.inbox.markRead(...grace.inbox.notifications.map((one) => one.id))
    await expectInbox(grace, 0, [question])
    await grace.threads.reply(id, { commentText: 'Yes.' })
    await eventually(() => threadOf(ada, id)?.comments.map(({ commentText }) => commentText)).toEqual([
      'Is this number right, {{grace}}?',
      'Yes.',
    ])
    expect(threadOf(ada, id)?.unread).toBe(true)
    await expectInbox(ada, 1, ['grace comment.added: Yes.'])
    await expectCount(ada, 1, 1)
    await expect(vera.threads.reply(id, { commentText: 'Me too.' })).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
    })

    // Ada assigns the thread to Grace, who reacts and resolves it.
    await ada.threads.update(id, { assignedTo: { userId: 'grace' } })
    await eventually(() => threadOf(grace, id)?.assignedTo?.userId).toBe('grace')
    const commentId = threadOf(grace, id)?.comments[0]?.commentId as number
    await grace.threads.react(id, commentId, '❤️')
    await grace.threads.resolve(id)
    await eventually(() => threadOf(vera, id)?.status.id).toBe('RESOLVED')
    expect(threadOf(vera, id)?.comments[0]?.reactionAnnotations).toMatchObject([{ icon: '❤️' }])
    await expectInbox(grace, 1, [`ada comment.assigned: ${text}`, question])
    await expectInbox(ada, 3, [
      `grace comment.statusChanged: ${text}`,
      `grace comment.reactionAdded: ${text}`,
      'grace comment.added: Yes.',
    ])

    // A private thread of Ada and Grace does not exist for Vera, until it becomes public.
    const visibility = { type: 'restricted' as const, userIds: ['grace'] }
    const secret = await ada.threads.add({ commentText: 'Between us.', visibility })
    await eventually(() => idsOf(grace.threads)).toEqual([id, secret].sort())
    expect(idsOf(vera.threads)).toEqual([id])
    await expectInbox(grace, 2, [
      'ada comment.newlyAdded: Between us.',
      `ada comment.assigned: ${text}`,
      question,
    ])
    await expectInbox(vera, 5, [
      `grace comment.statusChanged: ${text}`,
      `grace comment.reactionAdded: ${text}`,
      `ada comment.assigned: ${text}`,
      'grace comment.added: Yes.',
      question,
    ])
    await expectCount(grace, 2, 1)
    await expectCount(vera, 1, 1)
    await ada.threads.update(secret, { visibility: { type: 'public' } })
    await eventually(() => idsOf(vera.threads)).toEqual([id, secret].sort())
    await expectCount(vera, 2, 2)

    // Grace loses access in the middle: she gets nothing more, and can do nothing more.
    await backend.permissions.remove({
      userId: 'grace',
      permissions: { resources: [{ type: 'document', id: documentId, organizationId }] },
    })
    await eventually(() => grace.document.status).toBe('denied')
    await expect(grace.threads.reply(id, { commentText: 'Still here?' })).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
    })
    await expectInbox(grace, 0, [])
    await expectCount(grace, 0, 0)
    await ada.threads.delete(id)
    await expectInbox(ada, 0, [])
    await eventually(() => idsOf(vera.threads)).toEqual([secret])
    expect(idsOf(grace.threads)).toEqual([id, secret].sort())

    const logged = async () =>
      (await backend.events.get({})).data.events.map(({ name, actor }) => `${actor?.userId} ${name}`)
    await eventually(logged).toEqual([
      'ada comment_annotation.add',
      'grace comment.add',
      'ada comment_annotation.assign',
      'grace comment.reaction_add',
      'grace comment_annotation.status_change',
      'ada comment_annotation.add',
      'ada comment_annotation.access_mode_change',
      'ada comment_annotation.delete',
    ])
  })

  test('[K17.1] [R53.2] a comment written offline is sent once when the connection is back, and missed threads arrive', async () => {
    const { grant, open, client: backend } = await scene()
    await grant('ada')
    const network = interruptibleNetwork()
    const ada = await open('ada', { WebSocket: network.WebSocket })
    network.cut()
    await eventually(() => ada.connection.status).toBe('reconnecting')
    const adding = ada.threads.add({ commentText: 'Written offline.' })
    await backend.commentAnnotations.add({
      organizationId,
      documentId,
      commentAnnotations: [
        { annotationId: 'missed', commentData: [{ commentText: 'x', from: { userId: 'grace' } }] },
      ],
    })
    network.restore(ada.connection)
    const id = await adding
    await eventually(() => idsOf(ada.threads)).toEqual([id, 'missed'].sort())
    expect((await backend.commentAnnotations.get({ organizationId, documentId })).data).toHaveLength(2)
  })

  test('[K17.2] a document with many threads loads the first 50, and older ones on demand', async () => {
    const { grant, open, client: backend } = await scene()
    await grant('ada')
    const commentAnnotations = Array.from({ length: 120 }, () => ({
      commentData: [{ commentText: 'x', from: { userId: 'grace' } }],
    }))
    await backend.commentAnnotations.add({ organizationId, documentId, commentAnnotations })
    const { threads } = await open('ada')
    expect([threads.threads.length, threads.hasMore]).toEqual([50, true])
    await threads.loadMore()
    await threads.loadMore()
    expect([new Set(idsOf(threads)).size, threads.hasMore]).toEqual([120, false])
  })

  test('[K17] threads can be used after the document is open, which then stays open for everything else', async () => {
    const { grant, client, ...tenant } = await scene()
    await grant('ada')
    const connection = plenumConnection(client, await tokenFor({ ...tenant, client }, 'ada'))
    const document = connection.document(organizationId, documentId)
    const player = document.liveState<{ at: number }>('player')
    await player.set({ at: 1 })
    document.threads.subscribe(() => {})
    const id = await document.threads.add({ commentText: 'x' })
    await eventually(() => idsOf(document.threads)).toEqual([id])
    await client.liveState.broadcast({
      organizationId,
      documentId,
      liveStateDataId: 'player',
      data: { at: 2 },
    })
    await eventually(() => player.value).toEqual({ at: 2 })
  })
})
