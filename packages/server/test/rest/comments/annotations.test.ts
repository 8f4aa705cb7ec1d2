import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { ada, commentCalls, documentId, grace, organizationId, ref } from './calls.ts'

describe.each(stores)('comment annotations on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)

  test('[19.1] [19.2] an added annotation is read with its comments, its author and its number', async () => {
    const { client, add, get } = await tenantWithDocument()
    const { message, data } = await add('a1', { location: { id: 'page', locationName: 'Page' } })
    expect(message).toBe('Comment Annotation(s) added successfully.')
    const commentId = data.a1?.commentIds?.[0]
    expect(data).toEqual({
      a1: { success: true, annotationId: 'a1', commentIds: [commentId], message: 'Added Successfully' },
    })
    await add('a2')
    const read = await client.commentAnnotations.get(ref)
    expect(read.message).toBe('Annotation(s) fetched successfully.')
    const [second, first] = await get()
    expect([second?.annotationNumber, first?.annotationNumber]).toEqual([2, 1])
    expect(first).toMatchObject({
      annotationId: 'a1',
      type: 'comment',
      from: ada,
      status: { id: 'OPEN', type: 'default' },
      visibilityConfig: { type: 'public' },
      involvedUserIds: ['ada'],
      comments: [{ commentId, commentText: 'Is this right?', from: ada, status: 'added' }],
      metadata: { organizationId, documentId },
    })
  })

  test('[19.3] [19.3.1] a resolved annotation says who resolved it, until it is opened again', async () => {
    const { client, add, get } = await tenantWithDocument()
    await add('a1')
    const update = (updatedData: object) =>
      client.commentAnnotations.update({ ...ref, annotationIds: ['a1', 'none'], updatedData })
    expect((await update({ status: { type: 'terminal' }, resolvedByUserId: 'grace' })).data).toEqual({
      a1: { success: true, id: 'a1', message: 'Annotations updated successfully' },
      none: { success: false, id: 'none', message: 'Annotation not found.' },
    })
    expect((await get())[0]).toMatchObject({
      status: { id: 'RESOLVED', name: 'Resolved' },
      resolvedByUserId: 'grace',
      resolvedByUser: grace,
    })
    expect(await get({ resolvedBy: 'grace' })).toHaveLength(1)
    await update({ status: { type: 'default' }, resolvedByUserId: 'grace' })
    const [opened] = await get()
    expect(opened).toMatchObject({ status: { id: 'OPEN' } })
    expect(opened).not.toHaveProperty('resolvedByUserId')
    expect(await get({ resolvedBy: 'grace' })).toEqual([])
  })

  test('[19.5] [25.6] count has only annotations that the user may see, and those with comments of others as unread', async () => {
    const { client, add } = await tenantWithDocument()
    await add('open')
    await add('private', { visibility: { type: 'restricted', userIds: ['grace'] } })
    await add('members', { visibility: { type: 'organizationPrivate' } })
    const counts = async (userId: string) =>
      (await client.commentAnnotations.count({ organizationId, documentIds: [documentId, 'none'], userId }))
        .data
    const none = { total: 0, unread: 0 }
    expect(await counts('grace')).toEqual({ [documentId]: { total: 3, unread: 3 }, none })
    expect(await counts('ada')).toEqual({ [documentId]: { total: 3, unread: 0 }, none })
    expect(await counts('stranger')).toEqual({ [documentId]: { total: 1, unread: 1 }, none })
    await client.documents.updateAccess({
      organizationId,
      documentIds: [documentId],
      accessType: 'restricted',
    })
    expect(await counts('grace')).toEqual({ [documentId]: none, none })
  })

  test('[20.1] [20.2] [20.3] [20.4] comments are added, edited and deleted, and the last one takes the annotation with it', async () => {
    const { client, add, get } = await tenantWithDocument()
    await add('a1')
    const thread = { ...ref, annotationId: 'a1' }
    const { data: ids } = await client.comments.add({
      ...thread,
      commentData: [{ commentText: 'Yes, {{ada}}.', from: grace }],
    })
    const read = async () => (await client.comments.get(thread)).data
    expect(await read()).toMatchObject([
      { commentText: 'Is this right?' },
      { commentId: ids[0], commentText: 'Yes, {{ada}}.', from: grace, to: [ada] },
    ])
    const updated = await client.comments.update({
      ...thread,
      commentIds: [...ids, 1],
      updatedData: { commentText: 'No.' },
    })
    expect(updated.data).toEqual({
      [String(ids[0])]: { success: true, id: ids[0], message: 'Updated successfully' },
      '1': { success: false, id: 1, message: 'Not found' },
    })
    expect((await read())[1]).toMatchObject({ commentText: 'No.', to: [], status: 'updated', isEdited: true })
    expect(await get({ mentionedUserIds: ['ada'] })).toEqual([])
    await client.comments.delete({ ...thread, commentIds: ids })
    expect(await read()).toHaveLength(1)
    await client.comments.delete(thread)
    expect(await get()).toEqual([])
  })
})
