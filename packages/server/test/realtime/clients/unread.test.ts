import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/clients/convergence.ts'
import { interruptibleNetwork, plenumConnection } from '../../support/clients/plenum-client.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const ref = { organizationId: 'org_1', documentId: 'doc_1' }
const annotationId = 'a1'

describe.each(stores)('unread threads of the client on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const { client: backend } = tenant
    const from = (userId: string, commentId: number) => ({
      commentId,
      commentText: `${commentId}`,
      from: { userId },
    })
    const token = await tokenFor(tenant, 'ada')
    const asAda = server.client({ token })
    const open = async (options: object = {}) => {
      const connection = plenumConnection(backend, token, options)
      const { threads } = connection.document(ref.organizationId, ref.documentId)
      threads.subscribe(() => {})
      await eventually(() => threads.isLoading).toBe(false)
      return { connection, threads }
    }
    type User = Awaited<ReturnType<typeof open>>
    const textsOf = ({ threads }: User, id: string) => {
      const thread = threads.threads.find((one) => one.annotationId === id)
      return thread && { comments: thread.comments.length, unread: thread.unread }
    }
    return {
      ...tenant,
      backend,
      asAda,
      open,
      from,
      addThread: (...commentData: object[]) =>
        backend.commentAnnotations.add({
          ...ref,
          commentAnnotations: [{ annotationId, commentData }],
        }),
      addComments: (...commentData: object[]) => backend.comments.add({ ...ref, annotationId, commentData }),
      /** The client shows the thread as REST answers it. */
      async expectThread(user: User, comments: number, unread: boolean, id = annotationId) {
        await eventually(() => textsOf(user, id)).toEqual({ comments, unread })
        const { data } = await asAda.commentAnnotations.get({ ...ref, annotationIds: [id] })
        expect((data as { unread?: boolean }[])[0]?.unread).toBe(unread)
      },
    }
  }

  test('[R54.5] [19.5] a thread stays unread after the own answer of a user who has not viewed it', async () => {
    const { open, from, addThread, addComments, expectThread } = await scene()
    const ada = await open()
    await addThread(from('ada', 1))
    await expectThread(ada, 1, false)
    await addComments(from('grace', 2))
    await expectThread(ada, 2, true)
    await ada.threads.reply(annotationId, { commentText: 'Answered without looking.' })
    await expectThread(ada, 3, true)
    await ada.threads.markViewed(annotationId)
    await expectThread(ada, 3, false)
    // Both comments arrive in one message.
    await addComments(from('grace', 4), from('ada', 5))
    await expectThread(ada, 5, true)
  })

  test('[R54.5] [19.6] a thread that is viewed with another client, by REST or by a backend is read on every open client of the user', async () => {
    const { open, from, addThread, addComments, expectThread, asAda, backend } = await scene()
    const [tab, otherTab] = [await open(), await open()]
    await addThread(from('grace', 1))
    const read = [
      () => otherTab.threads.markViewed(annotationId),
      () => asAda.commentAnnotations.markViewed({ ...ref, annotationIds: [annotationId] }),
      () => backend.commentAnnotations.markViewed({ ...ref, annotationIds: [annotationId], userId: 'ada' }),
    ]
    for (const [index, markViewed] of read.entries()) {
      for (const client of [tab, otherTab]) await expectThread(client, index + 1, true)
      await markViewed()
      for (const client of [tab, otherTab]) await expectThread(client, index + 1, false)
      await addComments(from('grace', index + 2))
    }
    for (const client of [tab, otherTab]) await expectThread(client, 4, true)
  })

  test('[R54.5] a thread whose newest comment was deleted is unread only if the user has not seen an earlier one', async () => {
    const { open, from, addThread, addComments, expectThread, backend } = await scene()
    const ada = await open()
    await addThread(from('grace', 1))
    await expectThread(ada, 1, true)
    const remove = (commentId: number) =>
      backend.comments.delete({ ...ref, annotationId, commentIds: [commentId] })
    await addComments(from('linus', 2))
    await remove(2)
    await expectThread(ada, 1, true)
    await ada.threads.markViewed(annotationId)
    await addComments(from('linus', 3))
    await expectThread(ada, 2, true)
    await remove(3)
    await expectThread(ada, 1, false)
  })

  test('[R54.5] [K17.2] a thread of an older page that changes is as unread as before', async () => {
    const { open, from, expectThread, asAda, backend } = await scene()
    const ids = Array.from({ length: 52 }, (_, index) => `t${index}`)
    // One call after the other, so that the order is known.
    for (const id of ids.slice(0, 2)) {
      await backend.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId: id, commentData: [from('grace', 1)] }],
      })
    }
    await backend.commentAnnotations.add({
      ...ref,
      commentAnnotations: ids.slice(2).map((id) => ({ annotationId: id, commentData: [from('grace', 1)] })),
    })
    const [read, unread] = ids as [string, string]
    await asAda.commentAnnotations.markViewed({ ...ref, annotationIds: [read] })
    const ada = await open()
    expect(ada.threads.threads).toHaveLength(50)
    const updatedData = { priority: { id: 'P0', name: 'High', color: '#ff0000' } }
    await backend.commentAnnotations.update({ ...ref, annotationIds: [read, unread], updatedData })
    await expectThread(ada, 1, false, read)
    await expectThread(ada, 1, true, unread)
  })

  test('[R54.5] [K17.6] a thread that was viewed elsewhere while the client was offline is read after the reconnect', async () => {
    const { open, from, addThread, expectThread, asAda } = await scene()
    const network = interruptibleNetwork()
    const ada = await open({ WebSocket: network.WebSocket })
    await addThread(from('grace', 1))
    await expectThread(ada, 1, true)
    network.cut()
    await eventually(() => ada.connection.status).toBe('reconnecting')
    await asAda.commentAnnotations.markViewed({ ...ref, annotationIds: [annotationId] })
    network.restore(ada.connection)
    await expectThread(ada, 1, false)
  })

  test('[R54.5] [25.6] what a user has viewed is told to the clients of this user only, and names no hidden thread', async () => {
    const { open, from, addThread, backend, expectThread, ...tenant } = await scene()
    const network = interruptibleNetwork()
    const ada = await open({ WebSocket: network.WebSocket })
    const otherNetwork = interruptibleNetwork()
    const grace = plenumConnection(backend, await tokenFor({ ...tenant, client: backend }, 'linus'), {
      WebSocket: otherNetwork.WebSocket,
    })
    const { threads } = grace.document(ref.organizationId, ref.documentId)
    threads.subscribe(() => {})
    await addThread(from('grace', 1))
    await backend.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        {
          annotationId: 'hidden',
          commentData: [from('grace', 1)],
          visibility: { type: 'restricted', userIds: ['grace'] },
        },
      ],
    })
    await expectThread(ada, 1, true)
    const annotationIds = [annotationId, 'hidden']
    await backend.commentAnnotations.markViewed({ ...ref, annotationIds, userId: 'ada' })
    await expectThread(ada, 1, false)
    const viewed = ({ of }: typeof network) => of('threads').flatMap((message) => message.viewed)
    expect(viewed(network)).toEqual([annotationId])
    await eventually(() => threads.threads.length).toBe(1)
    expect(viewed(otherNetwork)).toEqual([])
    expect(threads.threads[0]?.unread).toBe(true)
  })
})
