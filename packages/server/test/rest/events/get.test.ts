import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { comment, commentCalls, documentId, grace, organizationId, ref } from '../comments/calls.ts'

describe.each(stores)('the event log on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  test('[27.1] [27.1.1] every change is one event, and a reader continues behind the last one', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    await add('a1')
    expect(await events(1)).toMatchObject([
      { name: 'comment_annotation.add', actor: { userId: 'ada' }, documentId, annotationId: 'a1' },
    ])
    const { data: first } = await client.events.get({})
    await reply('a1', comment('x', { from: grace, commentId: 5 }))
    await client.comments.update({
      ...ref,
      annotationId: 'a1',
      commentIds: [5],
      updatedData: { commentText: 'y' },
    })
    await client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [5] })
    await client.commentAnnotations.update({ ...ref, updatedData: { assignedTo: grace } })
    await client.commentAnnotations.update({ ...ref, updatedData: { context: { a: 1 } } })
    await client.commentAnnotations.update({
      ...ref,
      updatedData: { status: { type: 'terminal' }, priority: { id: 'P1', name: 'x' } },
    })
    await client.comments.delete({ ...ref, annotationId: 'a1' })
    const found = await events(9, { after: first.after })
    expect(found.map(({ name }) => name)).toEqual([
      'comment.add',
      'comment.update',
      'comment.delete',
      'comment_annotation.assign',
      'comment_annotation.update',
      'comment_annotation.status_change',
      'comment_annotation.priority_change',
      'comment.delete',
      'comment_annotation.delete',
    ])
    const { data: all } = await client.events.get({ after: first.after })
    expect((await client.events.get({ after: all.after })).data).toEqual({
      events: [],
      after: all.after,
      hasMore: false,
    })
    expect(new Set(found.map(({ id }) => id)).size).toBe(9)
  })

  test('[27.1] a refused call and a call of another tenant leave no event', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    const other = await tenantWithDocument()
    await add('a1')
    await other.add('a1')
    await expect(
      reply('a1', comment('x'), comment('{{x}}', { taggedUserContacts: [{ userId: 'nobody' }] })),
    ).rejects.toThrow()
    await expect(
      client.commentAnnotations.update({ ...ref, updatedData: { suggestion: {} } }),
    ).rejects.toThrow()
    await client.commentAnnotations.update({
      ...ref,
      annotationIds: ['none'],
      updatedData: { assignedTo: null },
    })
    expect(await events(1)).toHaveLength(1)
  })

  test('[27.1.2] filters keep the order and the positions, and a short limit returns everything in parts', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    await client.documents.add({
      organizationId: 'org_2',
      createOrganization: true,
      documents: [{ documentId }],
    })
    for (let index = 0; index < 4; index++) {
      await add(`a${index}`)
      await reply(`a${index}`, comment('x'), comment('y'))
      await client.commentAnnotations.add({
        organizationId: 'org_2',
        documentId,
        commentAnnotations: [{ commentData: [comment('z')] }],
      })
    }
    const all = await events(16)
    const numbers = (found: { number: number }[]) => found.map(({ number }) => number)
    const filters = [
      { names: ['comment.add' as const] },
      { organizationId },
      { organizationId, documentId: 'none' },
      { organizationId: 'org_2', documentId },
    ]
    for (const filter of filters) {
      const expected = all.filter(
        (event) =>
          (!('names' in filter) || filter.names?.includes(event.name as never)) &&
          (!('organizationId' in filter) || event.organizationId === filter.organizationId) &&
          (!('documentId' in filter) || event.documentId === filter.documentId),
      )
      for (const limit of [1, 3, 500]) {
        expect(numbers(await events(expected.length, { ...filter, limit }))).toEqual(numbers(expected))
      }
    }
    const { data: half } = await client.events.get({ limit: 8 })
    expect(numbers(await events(2, { after: half.after, organizationId: 'org_2' }))).toEqual(
      numbers(all.slice(8).filter((event) => event.organizationId === 'org_2')),
    )
    await expect(client.events.get({ documentId })).rejects.toMatchObject({
      message: 'organizationId is required.',
    })
    for (const after of ['', 'x', '1', '1.', '-1.2', '1.2.3', '99999999999999999.1']) {
      await expect(client.events.get({ after }), after).rejects.toMatchObject({
        message: 'after must be the after of an earlier answer.',
      })
    }
  })

  test(
    '[27.1.2] [S2] events with large payloads are read in parts of about 1 MiB, and the event loop stays free',
    { timeout: 60_000 },
    async () => {
      const { client, headers, add, reply, events } = await tenantWithDocument()
      await add('a1')
      await add('a2')
      const large = Array.from({ length: 16 }, () => comment('x', { context: { text: 'x'.repeat(60_000) } }))
      await reply('a1', ...large)
      await reply('a1', ...large)
      await reply('a2', ...large)
      await reply('a2', ...large)
      expect(await events(66)).toHaveLength(66)
      const { data } = await client.events.get({ limit: 500 })
      expect(data.hasMore).toBe(true)
      expect(data.events.length).toBeLessThan(25)
      expect(JSON.stringify(data).length).toBeLessThan(1.2 * 1024 * 1024)
      // One answer has about 1 MiB of events, and is serialized in one piece.
      const limits = { jsonBytes: 1.25 * 1024 * 1024 }
      await expectShortIterations(
        () => server.post('/v2/events/get', { data: { limit: 500 } }, headers),
        limits,
      )
    },
  )

  test(
    '[27.1.9] [27.1.2] all events of a call have the annotation, which is stored once, and an answer has about 1 MiB with it',
    { timeout: 60_000 },
    async () => {
      const { client, apiKey, add, reply, events } = await tenantWithDocument()
      const context = { text: 'x'.repeat(15_000) }
      const commentData = Array.from({ length: 100 }, (_, index) => comment(`text ${index}`))
      const stored = async () => {
        const bytes = sql<number>`sum(octet_length(payload))`.as('bytes')
        const query = server.database.read.selectFrom('events').select(bytes).where('api_key', '=', apiKey)
        return (await query.executeTakeFirstOrThrow()).bytes
      }
      await add('a1', { context, commentData })
      await reply('a1', ...commentData)
      await client.comments.delete({ ...ref, annotationId: 'a1' })
      expect(await events(401)).toHaveLength(401)
      expect(await stored()).toBeLessThan(3 * 15_000 + 401 * 1_000)
      const { data: first } = await client.events.get({ limit: 500 })
      expect(first.hasMore).toBe(true)
      expect(JSON.stringify(first).length).toBeLessThan(1.2 * 1024 * 1024)
      for (const [name, count] of [
        ['comment.add', 199],
        ['comment.delete', 200],
      ] as const) {
        for (const { payload, annotationId } of await events(count, { names: [name], limit: 50 })) {
          expect(payload).toMatchObject({
            annotation: { annotationId, annotationNumber: 1, from: { userId: 'ada' }, context },
          })
        }
      }
    },
  )

  test('[27.1.4] an event notifies users only if the backend asks for it', async () => {
    const { client, apiKey, add, reply } = await tenantWithDocument()
    await add('a1')
    await add('a2', { commentData: [comment('x', { triggerNotification: true }), comment('y')] })
    await reply('a1', comment('x', { triggerNotification: true }))
    await client.commentAnnotations.update({
      ...ref,
      annotationIds: ['a1'],
      updatedData: { assignedTo: grace },
    })
    await client.commentAnnotations.update({
      ...ref,
      annotationIds: ['a1'],
      updatedData: { assignedTo: null },
      triggerNotification: true,
    })
    await client.commentAnnotations.delete(ref)
    const rows = await server.database.read
      .selectFrom('events')
      .select('notifies')
      .where('api_key', '=', apiKey)
      .orderBy('event_id')
      .execute()
    expect(rows.map((row) => row.notifies)).toEqual([0, 1, 0, 1, 0, 1, 0, 0])
  })
})
