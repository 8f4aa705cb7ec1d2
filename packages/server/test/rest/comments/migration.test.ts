import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { comment, commentCalls, grace, organizationId } from './calls.ts'

const source = { organizationId, documentId: 'old' }
const target = { organizationId, documentId: 'new' }

describe.each(stores)('moving documents with annotations on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  async function tenantWithBoth() {
    const tenant = await tenantWithDocument()
    const { client } = tenant
    await client.documents.add({ organizationId, documents: [{ documentId: 'old' }, { documentId: 'new' }] })
    const addTo = (place: typeof source, annotationIds: string[], commentText = 'x') =>
      client.commentAnnotations.add({
        ...place,
        commentAnnotations: annotationIds.map((annotationId) => ({
          annotationId,
          commentData: [comment(commentText), comment('y', { from: grace })],
        })),
      })
    const migrate = async () => {
      const { data } = await client.documents.migrate({ ...source, newDocumentId: 'new' })
      const status = async () =>
        (await client.documents.migrateStatus({ organizationId, migrationId: data.migrationId })).data.status
      await expect.poll(status, { timeout: 60_000 }).toBe('completed')
    }
    const counts = async (userId: string) =>
      (await client.commentAnnotations.count({ organizationId, documentIds: ['old', 'new'], userId })).data
    return { ...tenant, addTo, migrate, counts }
  }

  test('[10.8.4] a notification about a moved annotation names the new document everywhere', async () => {
    const { client, migrate } = await tenantWithBoth()
    const commentData = [{ ...comment('x {{grace}}'), triggerNotification: true }]
    await client.commentAnnotations.add({
      ...source,
      commentAnnotations: [{ annotationId: 's1', commentData }],
    })
    const inbox = async () => (await client.notifications.get({ organizationId, userId: 'grace' })).data
    await expect.poll(async () => (await inbox()).length).toBe(1)
    const [before] = await inbox()
    expect(before?.notificationSourceData).toMatchObject({ documentId: 'old', annotationId: 's1' })
    await migrate()
    const [after] = await inbox()
    expect(after?.metadata.documentId).toBe('new')
    expect(after?.notificationSourceData).toEqual({ ...before?.notificationSourceData, documentId: 'new' })
    expect(JSON.stringify(after)).not.toContain('"old"')
  })

  test('[10.8] annotations move with their comments, users, views and events, and get new numbers', async () => {
    const { client, apiKey, addTo, migrate, counts, get, events } = await tenantWithBoth()
    await addTo(target, ['same', 't1'], 'target')
    await addTo(source, ['s1', 'same', 's2'], 'source {{grace}}')
    for (let change = 0; change < 5; change++) {
      await client.commentAnnotations.update({
        ...source,
        updatedData: { priority: { id: `P${change}`, name: 'x' } },
      })
    }
    // Ada has seen `s1`, as a client would record it.
    await server.database.write(async (db) => {
      const { event_seq: viewed_seq } = await db
        .selectFrom('documents')
        .select('event_seq')
        .where('api_key', '=', apiKey)
        .where('document_id', '=', 'old')
        .executeTakeFirstOrThrow()
      const view = { organization_id: organizationId, document_id: 'old', user_id: 'ada', number: 1 }
      await db
        .insertInto('annotation_views')
        .values({ api_key: apiKey, ...view, viewed_seq, viewed_at: 1 })
        .execute()
    })
    const before = await events(25)
    await migrate()
    const moved = await get({ documentIds: ['new'], order: 'asc' })
    const known = moved.map(({ annotationId, annotationNumber }) => [annotationId, annotationNumber])
    expect(Object.fromEntries(known)).toEqual({ same: 1, t1: 2, s1: 3, s2: 4 })
    expect(moved.find(({ annotationId }) => annotationId === 'same')?.comments[0]?.commentText).toBe('target')
    expect(moved.find(({ annotationId }) => annotationId === 's1')).toMatchObject({
      comments: [{ commentText: 'source {{grace}}' }, { commentText: 'y', from: grace }],
      mentionedUserIds: ['grace'],
      metadata: { documentId: 'new' },
    })
    expect(await get({ documentIds: ['old'] })).toEqual([])
    const after = await events(25)
    expect(after.map(({ number }) => number)).toEqual(before.map(({ number }) => number))
    expect(new Set(after.map(({ documentId }) => documentId))).toEqual(new Set(['new']))

    const none = { total: 0, unread: 0 }
    expect(await counts('ada')).toEqual({ old: none, new: { total: 4, unread: 3 } })
    await client.comments.add({ ...target, annotationId: 's1', commentData: [comment('z', { from: grace })] })
    expect(await counts('ada')).toEqual({ old: none, new: { total: 4, unread: 4 } })
    await addTo(target, ['t2'])
    expect((await get({ documentIds: ['new'], annotationIds: ['t2'] }))[0]?.annotationNumber).toBe(5)
  })

  test(
    '[10.8] [10.8.1] [S2] many and long annotations move in short steps, past those that the target has',
    { timeout: 120_000 },
    async () => {
      const { client, addTo, migrate, get } = await tenantWithBoth()
      const ids = (prefix: string, count: number) =>
        Array.from({ length: count }, (_, index) => `${prefix}${index}`)
      await addTo(target, ids('same', 150))
      await addTo(source, ids('same', 150))
      const long = Array.from({ length: 90 }, () => comment('x'.repeat(9_000)))
      for (const annotationId of ['long1', 'long2']) {
        await client.commentAnnotations.add({
          ...source,
          commentAnnotations: [{ annotationId, commentData: long }],
        })
        await client.comments.add({ ...source, annotationId, commentData: long })
      }
      await addTo(source, ids('s', 200))
      const { transactions } = await expectShortIterations(migrate)
      // A statement moves one annotation. A transaction moves 20 on SQLite, and 100 on PostgreSQL.
      expect(transactions.mostStatements).toBeLessThan(150)
      expect(await get({ documentIds: ['new'] })).toHaveLength(352)
      expect((await get({ documentIds: ['new'], annotationIds: ['long2'] }))[0]?.comments).toHaveLength(180)
    },
  )
})
