import { describe, expect, test } from 'vitest'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { ada, comment, commentCalls, documentId, grace, organizationId, ref, v1 } from './calls.ts'

describe.each(stores)('adding comments on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  test('[19.1.2] annotations of authors who may not write are refused, without a profile, and the others are added', async () => {
    const { client, get, reply } = await tenantWithDocument()
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    await client.users.add({ ...ref, users: [{ ...ada, accessRole: 'editor' }] })
    await client.users.add({ ...ref, users: [{ ...grace, accessRole: 'viewer' }] })
    const of = (userId: string, annotationId?: string) => ({
      ...(annotationId && { annotationId }),
      commentData: [comment('x', { from: { userId } })],
    })
    const message = 'User does not have access to document'
    const denied = { success: false, message }
    await expect(
      client.commentAnnotations.add({
        ...ref,
        verifyUserPermissions: true,
        commentAnnotations: [of('ada', 'a1'), of('grace', 'a2'), of('stranger')],
      }),
    ).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
      message,
      details: {
        a1: { success: true },
        a2: { ...denied, annotationId: 'a2' },
        '__svc_denied:2': denied,
      },
    })
    expect((await get()).map(({ annotationId }) => annotationId)).toEqual(['a1'])
    const answers = { ...ref, verifyUserPermissions: true, annotationId: 'a1' }
    const add = (from: object) => client.comments.add({ ...answers, commentData: [comment('x', { from })] })
    await expect(add(grace)).rejects.toMatchObject({ status: 'PERMISSION_DENIED', message })
    await add(ada)
    await reply('a1', comment('without check', { from: grace }))
    expect((await get())[0]?.comments).toHaveLength(3)
    const users = (await client.users.get({ organizationId, allDocuments: true })).data
    expect(users).not.toContainEqual(expect.objectContaining({ userId: 'stranger' }))
    const rows = await server.database.read
      .selectFrom('users')
      .select('user_id')
      .where('user_id', '=', 'stranger')
      .execute()
    expect(rows).toEqual([])
  })

  test('[19.1.3] an annotation whose id the document has is refused, and the others are added', async () => {
    const { client, add, get } = await tenantWithDocument()
    await add('a1')
    const annotation = (annotationId: string) => ({ annotationId, commentData: [comment('again')] })
    await expect(
      client.commentAnnotations.add({ ...ref, commentAnnotations: ['a1', 'a2', 'a2'].map(annotation) }),
    ).rejects.toMatchObject({
      status: 'ALREADY_EXISTS',
      details: {
        a1: { success: false, annotationId: 'a1', message: 'Annotation already exists.' },
        a2: { success: true, annotationId: 'a2' },
      },
    })
    expect((await get()).map(({ comments }) => comments.length)).toEqual([1, 1])
    await client.documents.add({ organizationId, documents: [{ documentId: 'doc_2' }] })
    await client.commentAnnotations.add({
      organizationId,
      documentId: 'doc_2',
      commentAnnotations: [annotation('a1')],
    })
    expect(await get({ annotationIds: ['a1'] })).toHaveLength(2)
  })

  test('[19.1.4] [19.3.2] a suggestion begins as pending and is decided once', async () => {
    const { client, add, one, events } = await tenantWithDocument()
    const suggestion = { status: 'accepted' as const, newValue: 1 }
    await add('a1', { type: 'suggestion', suggestion })
    await add('a2')
    expect((await one('a1')).suggestion).toEqual({ status: 'pending', newValue: 1 })
    const update = (annotationId: string, suggestion: Record<string, unknown>) =>
      client.commentAnnotations.update({ ...ref, annotationIds: [annotationId], updatedData: { suggestion } })
    await update('a1', { newValue: 2 })
    expect((await one('a1')).suggestion).toEqual({ status: 'pending', newValue: 2 })
    await update('a1', { status: 'rejected', rejectReason: 'no' })
    for (const status of ['accepted', 'pending']) {
      await expect(update('a1', { status })).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        message: 'The suggestion of a1 is already rejected.',
      })
    }
    await expect(update('a2', suggestion)).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
    expect((await one('a1')).suggestion).toEqual({ status: 'rejected', rejectReason: 'no' })
    const names = (await events(4)).map(({ name }) => name)
    expect(names.slice(2)).toEqual(['comment_annotation.update', 'comment_annotation.suggestion_reject'])
  })

  test('[20.1] an id that the annotation has is refused, also twice in one call, and nothing is added', async () => {
    const { add, reply, comments, client } = await tenantWithDocument()
    await add('a1', { commentData: [comment('first', { commentId: 7 })] })
    await add('a2', { commentData: [comment('other', { commentId: 7 })] })
    const clash = { status: 'ALREADY_EXISTS', message: 'Comment 7 already exists.' }
    await expect(reply('a1', comment('x'), comment('y', { commentId: 7 }))).rejects.toMatchObject(clash)
    const twice = { message: 'Comment 8 already exists.' }
    await expect(
      reply('a1', comment('x', { commentId: 8 }), comment('y', { commentId: 8 })),
    ).rejects.toMatchObject(twice)
    expect(await comments('a1')).toHaveLength(1)
    await client.comments.delete({ ...ref, annotationId: 'a2' })
    await reply('a1', comment('z', { commentId: 9 }))
    await client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [9] })
    await reply('a1', comment('again', { commentId: 9 }))
    expect((await comments('a1')).map(({ commentText }) => commentText)).toEqual(['first', 'again'])
  })

  test('[20.1] comments that many calls add to an annotation at the same time all stay, each with its own place and event', async () => {
    const { client, add, reply, one, events } = await tenantWithDocument()
    await add('a1')
    const texts = Array.from({ length: 40 }, (_, index) => `c${index}`)
    const clashing = texts.map((text) => comment(text, { commentId: 1_000 + (Number(text.slice(1)) % 20) }))
    const results = await Promise.allSettled(clashing.map((one) => reply('a1', one)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    const added = Array.from({ length: 20 }, (_, index) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId: `new${index}`, commentData: [comment('x')] }],
      }),
    )
    await Promise.all(added)
    const { comments } = await one('a1')
    expect(new Set(comments.map(({ commentId }) => commentId)).size).toBe(21)
    const numbers = (await client.commentAnnotations.get(ref)).data as { annotationNumber: number }[]
    expect(numbers.map(({ annotationNumber }) => annotationNumber).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 21 }, (_, index) => index + 1),
    )
    const inLog = (await events(41)).flatMap(({ name, payload }) =>
      name === 'comment.add' ? [(payload.comment as { commentId: number }).commentId] : [],
    )
    expect(inLog).toEqual(comments.slice(1).map(({ commentId }) => commentId))
  })

  test('[19.1] numbers are not used again after annotations are deleted', async () => {
    const { client, add, one } = await tenantWithDocument()
    await add('a1')
    await add('a2')
    await client.commentAnnotations.delete(ref)
    await add('a3')
    expect((await one('a3')).annotationNumber).toBe(3)
  })

  test('[0.1.4] v1 ignores the fields that are new in v2', async () => {
    const { client, one } = await tenantWithDocument()
    const commentAnnotations = [
      {
        annotationId: 'a1',
        type: 'suggestion' as const,
        visibility: { type: 'restricted' as const, userIds: ['nobody'] },
        commentData: [comment('x', { attachments: [{ attachmentId: 1 }], context: { a: 1 } })],
      },
    ]
    await client.commentAnnotations.add({ ...ref, commentAnnotations }, v1)
    const read = await one('a1')
    expect(read).toMatchObject({ type: 'comment', visibilityConfig: { type: 'public' } })
    expect(read.comments[0]).toMatchObject({ attachments: [] })
    expect(read.comments[0]).not.toHaveProperty('context')
  })
})

test('[20.1] two servers on one PostgreSQL add comments to the same annotation at the same time', async () => {
  const first = await startServer('postgres')
  const second = await startServer('postgres', { data: first.data })
  try {
    const { withCalls, tenantWithDocument } = commentCalls(first)
    const here = await tenantWithDocument()
    const { apiKey, authToken } = here
    const there = withCalls({ ...here, client: second.client({ apiKey, authToken }) })
    await here.add('a1')
    const texts = Array.from({ length: 20 }, (_, index) => `c${index}`)
    await Promise.all(texts.map((text, index) => (index % 2 ? here : there).reply('a1', comment(text))))
    const { comments, annotationNumber } = await here.one('a1')
    expect(annotationNumber).toBe(1)
    expect(comments.map(({ commentText }) => commentText).toSorted()).toEqual(
      ['Is this right?', ...texts].sort(),
    )
    const events = await here.events(21)
    expect(
      events.slice(1).map(({ payload }) => (payload.comment as { commentText: string }).commentText),
    ).toEqual(comments.slice(1).map(({ commentText }) => commentText))
  } finally {
    await second.server.stop()
    await second.database.close()
    await first.stop()
  }
})
