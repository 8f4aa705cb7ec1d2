import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const ref = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('calls of operations on sockets on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const connect = async (userId: string, role?: 'viewer' | 'editor') =>
      RealtimeSocket.connect(server, await tokenFor(tenant, userId, { role }))
    return { ...tenant, connect }
  }
  const add = (commentText = 'Hello.') => ({
    ...ref,
    commentAnnotations: [{ annotationId: 'a1', commentData: [{ commentId: 1, commentText }] }],
  })

  test('[R53] [0.2.3] a call runs an operation as the user of the connection, without an open document', async () => {
    const { connect, client: backend } = await scene()
    const ada = await connect('ada')
    ada.send({ type: 'call', id: 7, operation: 'commentAnnotations.add', input: add() })
    expect(await ada.take('done')).toEqual({
      type: 'done',
      id: 7,
      result: {
        status: 'success',
        message: 'Comment Annotation(s) added successfully.',
        data: {
          a1: { success: true, annotationId: 'a1', commentIds: [1], message: 'Added Successfully' },
        },
      },
    })
    const [annotation] = (await backend.commentAnnotations.get(ref)).data as Record<string, unknown>[]
    expect(annotation).toMatchObject({ from: { userId: 'ada' } })
  })

  test('[R53.1] a call is refused as over REST, with the status, the message and the details, and the connection stays open', async () => {
    const { connect, client: backend } = await scene()
    const vera = await connect('vera', 'viewer')
    const call = async (operation: string, input: object) => {
      vera.send({ type: 'call', id: 1, operation, input } as never)
      return vera.take('error')
    }
    const error = (status: string, message: string) => ({ type: 'error', id: 1, status, message })
    const unknown = error('NOT_FOUND', 'There is no such operation that users can call.')
    expect(await call('organizations.delete', { organizationIds: ['org_1'] })).toEqual(unknown)
    expect(await call('constructor', {})).toEqual(unknown)
    expect(await call('comments.add', { ...ref, annotationId: 'a1', commentData: [] })).toEqual(
      error('INVALID_ARGUMENT', 'commentData must not be empty.'),
    )
    expect(await call('commentAnnotations.add', add())).toEqual(
      error('PERMISSION_DENIED', 'The user may read this document, but not write in it.'),
    )
    await backend.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        { annotationId: 'a1', commentData: [{ commentText: 'x', from: { userId: 'ada' } }] },
      ],
    })
    const ada = await connect('ada')
    ada.send({ type: 'call', id: 2, operation: 'commentAnnotations.add', input: add() })
    expect(await ada.take('error')).toMatchObject({
      id: 2,
      status: 'ALREADY_EXISTS',
      details: { a1: { success: false } },
    })
    vera.send({ type: 'call', id: 3, operation: 'commentAnnotations.get', input: ref })
    expect(await vera.take('done')).toMatchObject({ id: 3, result: { data: [{ annotationId: 'a1' }] } })
  })

  test('[R53.2] a call that is repeated with its idempotency key after a reconnect runs once', async () => {
    const { connect, client: backend } = await scene()
    const input = { ...ref, commentAnnotations: [{ commentData: [{ commentText: 'once' }] }] }
    const call = {
      type: 'call',
      id: 1,
      operation: 'commentAnnotations.add',
      input,
      idempotencyKey: 'k',
    } as const
    const answers: unknown[] = []
    for (let attempt = 0; attempt < 2; attempt++) {
      const ada = await connect('ada')
      ada.send(call)
      answers.push(await ada.take('done'))
      await ada.close()
    }
    expect(answers[1]).toEqual(answers[0])
    expect((await backend.commentAnnotations.get(ref)).data).toHaveLength(1)
  })

  test('[R53.3] calls beyond the eighth of a connection wait, and all are answered', async () => {
    const { connect } = await scene()
    const ada = await connect('ada')
    const ids = Array.from({ length: 40 }, (_, index) => index)
    for (const id of ids) {
      const input = { ...ref, commentAnnotations: [{ commentData: [{ commentText: `${id}` }] }] }
      ada.send({ type: 'call', id, operation: 'commentAnnotations.add', input })
    }
    const done: number[] = []
    for (const _ of ids) done.push((await ada.take('done')).id)
    expect(done.toSorted((a, b) => a - b)).toEqual(ids)
  })
})
