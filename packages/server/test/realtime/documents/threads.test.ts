import type { Visibility } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const ref = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('the feed of comment threads on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const { client } = tenant
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'ada' }, { userId: 'grace' }] })
    const connect = async (userId: string) => RealtimeSocket.connect(server, await tokenFor(tenant, userId))
    const open = async (socket: RealtimeSocket, topics: string[], since?: object) => {
      socket.send({ type: 'open', ref: 1, ...ref, topics, ...(since && { since }) } as never)
      return socket.take('opened')
    }
    const add = (annotationId: string, fields: object = {}) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [
          { annotationId, commentData: [{ commentText: 'x', from: { userId: 'ada' } }], ...fields },
        ],
      })
    return { ...tenant, connect, open, add }
  }
  const idsOf = (changed: readonly object[]) =>
    changed.map((one) => (one as { annotationId: string }).annotationId)

  test('[R54] a change of a thread reaches the subscribers of comments at once, and nobody else', async () => {
    const { connect, open, add, client } = await scene()
    const [grace, other] = [await connect('grace'), await connect('ada')]
    const { threads } = await open(grace, ['comments'])
    expect(threads).toEqual({ reset: true, changed: [], removed: [], large: [], unread: [], viewed: [] })
    expect(await open(other, ['liveState'])).not.toHaveProperty('threads')
    await add('a1')
    const message = await grace.take('threads')
    expect(message).toMatchObject({
      ref: 1,
      reset: false,
      changed: [{ annotationId: 'a1', comments: [{ commentText: 'x', from: { userId: 'ada' } }] }],
      removed: [],
      large: [],
    })
    await client.comments.add({
      ...ref,
      annotationId: 'a1',
      commentData: [{ commentText: 'y', from: { userId: 'ada' } }],
    })
    expect(await grace.take('threads')).toMatchObject({ changed: [{ comments: [{}, { commentText: 'y' }] }] })
    await client.commentAnnotations.delete({ ...ref, annotationIds: ['a1'] })
    expect(await grace.take('threads')).toMatchObject({ changed: [], removed: ['a1'] })
    await client.liveState.broadcast({ ...ref, liveStateDataId: 'player', data: { at: 1 } })
    const state = await other.take('liveState')
    expect(state.position.seq).toBe(4)
    expect(other.messages).toEqual([])
  })

  test('[R54.1] [25.6] a client gets only threads that its user may see, and learns when it may not see one any more', async () => {
    const { connect, open, add, client } = await scene()
    const [ada, grace] = [await connect('ada'), await connect('grace')]
    for (const socket of [ada, grace]) await open(socket, ['comments'])
    await add('private', { visibility: { type: 'restricted', userIds: ['ada'] } })
    await add('public')
    expect(idsOf((await ada.take('threads')).changed)).toEqual(['private'])
    expect(idsOf((await ada.take('threads')).changed)).toEqual(['public'])
    expect(idsOf((await grace.take('threads')).changed)).toEqual(['public'])
    const show = (annotationId: string, visibility: Visibility) =>
      client.commentAnnotations.update({ ...ref, annotationIds: [annotationId], updatedData: { visibility } })
    await show('public', { type: 'restricted', userIds: ['ada'] })
    expect(await grace.take('threads')).toMatchObject({ changed: [], removed: ['public'] })
    expect(await ada.take('threads')).toMatchObject({ changed: [{ annotationId: 'public' }], removed: [] })
    await show('public', { type: 'public' })
    expect(await grace.take('threads')).toMatchObject({ changed: [{ annotationId: 'public' }], removed: [] })
  })

  test('[R54.1] [25.6.1] a client learns nothing of a hidden thread whose audience changes, and loads again what it may have lost', async () => {
    const { connect, open, add, client } = await scene()
    const show = (annotationId: string, userIds: string[]) =>
      client.commentAnnotations.update({
        ...ref,
        annotationIds: [annotationId],
        updatedData: { visibility: { type: 'restricted', userIds } },
      })
    const remove = (annotationId: string) =>
      client.commentAnnotations.delete({ ...ref, annotationIds: [annotationId] })
    await add('hidden', { visibility: { type: 'restricted', userIds: ['ada'] } })
    for (const id of ['shown', 'deleted', 'changedTwice']) await add(id)
    const grace = await connect('grace')
    const { position } = await open(grace, ['comments'])
    const since = async (from: object) => {
      const socket = await connect('grace')
      return (await open(socket, ['comments'], from)).threads
    }
    await client.users.add({ organizationId: 'org_1', users: [{ userId: 'linus' }] })
    await show('hidden', ['linus'])
    await remove('hidden')
    await show('shown', ['ada'])
    expect(await grace.take('threads')).toMatchObject({ changed: [], removed: ['shown'] })
    await show('deleted', ['ada'])
    expect(await grace.take('threads')).toMatchObject({ changed: [], removed: ['deleted'] })
    await remove('deleted')
    const expected = {
      reset: false,
      changed: [],
      removed: ['shown', 'deleted'],
      large: [],
      unread: [],
      viewed: [],
    }
    expect(await since(position)).toEqual(expected)
    await show('changedTwice', ['ada'])
    await show('changedTwice', ['ada', 'linus'])
    // The open document has read all changes when it has told of a later one.
    await add('later')
    await expect
      .poll(() => idsOf(grace.messages.flatMap((one) => ('changed' in one ? one.changed : []))))
      .toEqual(['later'])
    expect(await since(position)).toMatchObject({ reset: true, changed: [], removed: [] })
  })

  test('[R54.2] [R11] a client that connects again gets what changed after its position: threads, removals and live states', async () => {
    const { connect, open, add, client } = await scene()
    await add('kept')
    await add('removed')
    const first = await connect('grace')
    const { position } = await open(first, ['comments', 'liveState'])
    await first.close()
    await add('new')
    await client.commentAnnotations.delete({ ...ref, annotationIds: ['removed'] })
    await client.liveState.broadcast({ ...ref, liveStateDataId: 'player', data: { at: 1 } })
    const second = await connect('grace')
    expect(await open(second, ['comments', 'liveState'], position)).toMatchObject({
      reset: false,
      threads: { reset: false, changed: [{ annotationId: 'new' }], removed: ['removed'] },
      liveStates: [{ liveStateDataId: 'player' }],
    })
    const third = await connect('ada')
    expect(await open(third, ['comments'], { epoch: 'other', seq: 1 })).toMatchObject({
      threads: { reset: true, changed: [] },
    })
  })

  test('[R54.5] a message names the changed threads that are unread for the user, and those that the user has viewed', async () => {
    const { connect, open, add, client } = await scene()
    const [ada, grace] = [await connect('ada'), await connect('grace')]
    for (const socket of [ada, grace]) await open(socket, ['comments'])
    await add('a1')
    expect(await ada.take('threads')).toMatchObject({ unread: [], viewed: [] })
    expect(await grace.take('threads')).toMatchObject({ unread: ['a1'], viewed: [] })
    await client.commentAnnotations.markViewed({ ...ref, annotationIds: ['a1'], userId: 'grace' })
    const viewed = await grace.take('threads')
    expect(viewed).toMatchObject({ reset: false, changed: [], unread: [], viewed: ['a1'] })
    expect(viewed).not.toHaveProperty('position')
    await client.commentAnnotations.update({
      ...ref,
      annotationIds: ['a1'],
      updatedData: { status: { type: 'terminal' } },
    })
    for (const socket of [ada, grace])
      expect(await socket.take('threads')).toMatchObject({ changed: [{}], unread: [], viewed: [] })
  })

  test('[R54.3] after more than 50 changes, a client loads the threads again', async () => {
    const { connect, open, client } = await scene()
    const grace = await connect('grace')
    const { position } = await open(grace, ['comments'])
    const commentAnnotations = Array.from({ length: 51 }, (_, index) => ({
      annotationId: `a${index}`,
      commentData: [{ commentText: 'x', from: { userId: 'ada' } }],
    }))
    await client.commentAnnotations.add({ ...ref, commentAnnotations })
    expect(await grace.take('threads')).toMatchObject({ reset: true, changed: [] })
    const second = await connect('grace')
    expect(await open(second, ['comments'], position)).toMatchObject({ threads: { reset: true } })
  })

  test('[R54.4] a thread that is too large to be sent is named', async () => {
    const { connect, open, client } = await scene()
    const grace = await connect('grace')
    await open(grace, ['comments'])
    const commentText = 'x'.repeat(9_000)
    const commentData = Array.from({ length: 8 }, () => ({ commentText, from: { userId: 'ada' } }))
    await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ annotationId: 'a1', commentData }] })
    expect(await grace.take('threads')).toMatchObject({ reset: false, changed: [], large: ['a1'] })
  })
})
