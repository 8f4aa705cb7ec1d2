import { describe, expect, test } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { ada, comment, commentCalls, documentId, grace, organizationId, ref } from './calls.ts'

describe.each(stores)('deleting annotations on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  test('[19.4] the annotations that fit all selectors are deleted with everything inside', async () => {
    const { client, add, get, apiKey, ...tenant } = await tenantWithDocument()
    const at = { location: { id: 'page' } }
    await add('a1', at, '{{grace}}')
    await add('a2', { ...at, commentData: [comment('x', { from: grace })] })
    await add('a3')
    const left = async () => (await get()).map(({ annotationId }) => annotationId).sort()
    const remove = async (selectors: object) =>
      (await client.commentAnnotations.delete({ ...ref, ...selectors })).data
    expect(
      await remove({ locationIds: ['page'], userIds: ['grace'], annotationIds: ['a1', 'a2', 'none'] }),
    ).toEqual({
      a1: { success: false, id: 'a1', message: 'Annotation not found.' },
      a2: { success: true, id: 'a2', message: 'Deleted Successfully' },
      none: { success: false, id: 'none', message: 'Annotation not found.' },
    })
    expect(await left()).toEqual(['a1', 'a3'])
    expect(await remove({ locationIds: ['page'] })).toEqual({
      a1: { success: true, id: 'a1', message: 'Deleted Successfully' },
    })
    expect(Object.keys(await remove({}))).toEqual(['a3'])
    const rows = await stored(server, { ...tenant, apiKey, client })
    expect([rows.annotations, rows.comments, rows.annotation_users]).toEqual([[], [], []])
    expect(rows.removed_annotations).toHaveLength(3)
  })

  test('[19.4] [S2] 600 annotations are deleted in short transactions, each with its event, and the event loop stays free', async () => {
    const { client, apiKey, get, events } = await tenantWithDocument()
    await seed(server.database, apiKey, organizationId).annotations(600, documentId)
    let deleted = {}
    const { transactions } = await expectShortIterations(
      async () => ({ data: deleted } = await client.commentAnnotations.delete(ref)),
    )
    expect(Object.keys(deleted)).toHaveLength(600)
    expect(transactions.count).toBeGreaterThanOrEqual(6)
    expect(await get()).toEqual([])
    const inLog = await events(600, { names: ['comment_annotation.delete'] })
    expect(new Set(inLog.map(({ annotationId }) => annotationId))).toEqual(new Set(Object.keys(deleted)))
  })

  test('[19.4] [S2] annotations with hundreds of long comments are deleted without blocking the event loop', async () => {
    const { client, add, reply, get } = await tenantWithDocument()
    const long = Array.from({ length: 90 }, () => comment('x'.repeat(9_000)))
    for (const id of ['a1', 'a2', 'a3']) {
      await add(id, { commentData: long })
      await reply(id, ...long)
    }
    // SQLite walks over the pages of each long comment that it deletes.
    await expectShortIterations(() => client.commentAnnotations.delete(ref), { changes: 60 })
    expect(await get()).toEqual([])
  })

  test('[19.4.1] without an organization, the document is found by its id, unless several organizations have it', async () => {
    const { client, add, get } = await tenantWithDocument()
    const other = await tenantWithDocument()
    await other.add('theirs')
    await add('a1')
    expect((await client.commentAnnotations.delete({ documentId })).data).toMatchObject({
      a1: { success: true },
    })
    await add('a2')
    await client.documents.add({
      organizationId: 'org_2',
      createOrganization: true,
      documents: [{ documentId }],
    })
    await expect(client.commentAnnotations.delete({ documentId })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'organizationId is required.',
    })
    await expect(client.commentAnnotations.delete({ documentId: 'none' })).rejects.toMatchObject({
      message: 'Document does not exist.',
    })
    expect(await get()).toHaveLength(1)
    expect(await other.get()).toHaveLength(1)
  })

  test('[8.4] [10.4] deleting the document or the organization deletes annotations and their events', async () => {
    const { client, add, get, ...tenant } = await tenantWithDocument()
    const rows = async () => {
      const all = await stored(server, { ...tenant, client })
      const names = ['annotations', 'comments', 'annotation_users', 'removed_annotations', 'events'] as const
      return names.map((name) => all[name]?.length)
    }
    await add('a1')
    await add('a2')
    await client.commentAnnotations.delete({ ...ref, annotationIds: ['a2'] })
    expect(await rows()).toEqual([1, 1, 1, 1, 3])
    await client.documents.delete({ organizationId, documentIds: [documentId] })
    expect(await rows()).toEqual([0, 0, 0, 0, 0])
    await client.documents.add({ organizationId, documents: [{ documentId }] })
    await add('a1', { commentData: [comment('x', { from: ada })] })
    expect((await get())[0]?.annotationNumber).toBe(1)
    await client.organizations.delete({ organizationIds: [organizationId] })
    expect(await rows()).toEqual([0, 0, 0, 0, 0])
  })
})
