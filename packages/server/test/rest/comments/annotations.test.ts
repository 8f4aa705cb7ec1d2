import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const documentId = 'doc_1'
const ref = { organizationId, documentId }
const ada = { userId: 'ada', name: 'Ada' }
const grace = { userId: 'grace', name: 'Grace' }

describe.each(stores)('comment annotations on %s', (store) => {
  const server = useServer(store)

  /** A tenant with a document, whose members are Ada and Grace. */
  async function tenantWithDocument() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await tenant.client.users.add({ organizationId, users: [ada, grace] })
    const add = (annotationId: string, fields: object = {}, commentText = 'Is this right?') =>
      tenant.client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId, commentData: [{ commentText, from: ada }], ...fields }],
      })
    const get = async (filter: object = ref) =>
      (await tenant.client.commentAnnotations.get({ organizationId, ...filter })).data as Record<
        string,
        unknown
      >[]
    return { ...tenant, add, get }
  }

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

  test('[27.1] [27.1.1] every change is one event, and a reader continues behind the last one', async () => {
    const { client, add } = await tenantWithDocument()
    await add('a1')
    const { data: first } = await client.events.get({})
    expect(first.events).toMatchObject([
      { name: 'comment_annotation.add', actor: { userId: 'ada' }, documentId, annotationId: 'a1' },
    ])
    await client.comments.add({
      ...ref,
      annotationId: 'a1',
      commentData: [{ commentText: 'x', from: grace }],
    })
    await client.commentAnnotations.update({ ...ref, updatedData: { assignedTo: grace } })
    await client.commentAnnotations.delete(ref)
    const { data: next } = await client.events.get({ after: first.after })
    expect(next.events.map(({ name }) => name)).toEqual([
      'comment.add',
      'comment_annotation.assign',
      'comment_annotation.delete',
    ])
    expect((await client.events.get({ after: next.after })).data).toEqual({
      events: [],
      after: next.after,
      hasMore: false,
    })
  })
})
