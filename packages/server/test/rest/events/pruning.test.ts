import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { runHousekeeping } from '../../support/data/housekeeping.ts'
import { comment, commentCalls, documentId, organizationId } from '../comments/calls.ts'

const day = 24 * 60 * 60 * 1000

describe.each(stores)('removing old events on %s', (store) => {
  const server = useServer(store, { env: { EVENT_RETENTION_DAYS: '2' } })
  const { tenantWithDocument } = commentCalls(server)

  const prune = (afterMs: number) => runHousekeeping(server, afterMs, { eventRetentionDays: 2 })

  test('[27.1.3] old events are removed, a reader that missed them is refused, and other positions stay valid', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    const other = await tenantWithDocument()
    await other.add('theirs')
    await add('a1')
    await add('a2')
    await events(2)
    const { data: start } = await client.events.get({ limit: 1 })
    const { data: read } = await client.events.get({})
    server.clock.offsetMs = day
    await reply('a2', comment('newer'))
    await events(3)
    const { data: recent } = await client.events.get({})

    await prune(2 * day - 60_000)
    expect(await events(3)).toHaveLength(3)
    await prune(2 * day + 60_000)
    expect((await events(1)).map(({ name }) => name)).toEqual(['comment.add'])
    for (const after of [start.after, '0.0']) {
      await expect(client.events.get({ after })).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        message:
          'Events after this position were removed, because they are older than 2 days. Read without after, from the oldest event that is left.',
      })
    }
    expect((await client.events.get({ after: read.after })).data.events).toHaveLength(1)
    expect((await client.events.get({ after: recent.after })).data.events).toEqual([])
    expect(await other.events(0)).toEqual([])

    server.clock.offsetMs = 0
    await prune(10 * day)
    expect(await events(0)).toEqual([])
    const { data: empty } = await client.events.get({})
    await add('a3')
    expect((await events(1, { after: empty.after })).map(({ annotationId }) => annotationId)).toEqual(['a3'])
    expect(await events(1, { after: recent.after })).toHaveLength(1)
    await expect(client.events.get({ after: read.after })).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
    })
  })

  test('[27.1.3] events are removed with their document, and other positions stay valid', async () => {
    const { client, add, events } = await tenantWithDocument()
    await client.documents.add({ organizationId, documents: [{ documentId: 'doc_2' }] })
    const addTo = (id: string, annotationId: string) =>
      client.commentAnnotations.add({
        organizationId,
        documentId: id,
        commentAnnotations: [{ annotationId, commentData: [comment('x')] }],
      })
    await add('a1')
    await addTo('doc_2', 'b1')
    await events(2)
    const { data } = await client.events.get({})
    await addTo('doc_2', 'b2')
    await add('a2')
    await client.documents.delete({ organizationId, documentIds: [documentId] })
    expect((await events(1, { after: data.after })).map(({ annotationId }) => annotationId)).toEqual(['b2'])
    expect((await events(2)).map(({ annotationId }) => annotationId)).toEqual(['b1', 'b2'])
  })

  test(
    '[27.1.3] [S2] many large events are removed without blocking the event loop',
    { timeout: 120_000 },
    async () => {
      const { add, reply, events } = await tenantWithDocument()
      const large = Array.from({ length: 14 }, () => comment('x', { context: { text: 'x'.repeat(60_000) } }))
      for (let index = 0; index < 3; index++) {
        await add(`a${index}`)
        await reply(`a${index}`, ...large)
        await reply(`a${index}`, ...large)
      }
      await events(87)
      // SQLite walks over the pages of each large event that it deletes: 512 KiB in one statement.
      await expectShortIterations(() => prune(3 * day), { changes: 40 })
      expect(await events(0)).toEqual([])
    },
  )
})
