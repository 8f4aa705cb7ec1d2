import { describe, expect, test, vi } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { comment, commentCalls, documentId, organizationId, ref } from './calls.ts'

describe.each(stores)('large threads on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  /** Two large annotations: many comments, as many mentions as possible, users with long profiles. */
  async function tenantWithLargeThreads() {
    const calls = await tenantWithDocument()
    const { client, add, reply } = calls
    const users = Array.from({ length: 100 }, (_, index) => ({
      userId: `u${index}`,
      photoUrl: `https://x.example/${'x'.repeat(1_900)}`,
      notes: 'x'.repeat(10_000),
    }))
    for (const some of [users.slice(0, 50), users.slice(50)])
      await client.users.add({ organizationId, users: some })
    const everyone = users.map(({ userId }) => `{{${userId}}}`).join('')
    const from = { userId: 'u0' }
    const crowded = comment(everyone, { from })
    for (const id of ['a1', 'a2']) {
      await add(id, { commentData: Array.from({ length: 8 }, () => crowded) })
      for (let call = 0; call < 3; call++)
        await reply(id, ...Array.from({ length: 100 }, (_, index) => comment(`${index}`, { from })))
    }
    return calls
  }

  test(
    '[19.0.1] [S2] very large threads are read and changed without blocking the event loop',
    { timeout: 120_000 },
    async () => {
      const { client, post } = await tenantWithLargeThreads()
      const thread = { ...ref, annotationId: 'a1' }
      const calls: (() => Promise<unknown>)[] = [
        () => post('get', ref),
        () => post('get', { organizationId, annotationIds: ['a1', 'a2'] }),
        () => post('get', ref, 'v1'),
        () => post('comments/get', thread),
        () =>
          client.commentAnnotations.update({
            ...ref,
            updateUsers: [{ oldUser: { userId: 'u1' }, newUser: { userId: 'u1' } }],
            updatedData: { priority: { id: 'P1', name: 'x' } },
          }),
      ]
      for (const call of calls) await expectShortIterations(call)
      const stringify = vi.spyOn(JSON, 'stringify')
      const { body } = await post('get', ref)
      const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length))
      stringify.mockRestore()
      // No piece of the answer is encoded at once, except one comment or the users of an annotation.
      expect(longest).toBeLessThan(1_000_000)
      const [first] = body.result.data
      expect(first.comments).toHaveLength(308)
      expect(first.comments[0].to).toHaveLength(100)
      expect(first.comments[0].to[5]).not.toHaveProperty('notes')
      expect((await client.comments.get(thread)).data).toEqual(first.comments.map(() => expect.anything()))
    },
  )

  test(
    '[19.2] [19.5] [S2] a filter that matches nothing in 2,600 annotations, and a count of them, do not block the event loop',
    { timeout: 120_000 },
    async () => {
      const { client, apiKey } = await tenantWithDocument()
      await seed(server.database, apiKey, organizationId).annotations(2600, documentId)
      const none = { organizationId, userIds: ['grace'] }
      const calls: [string, () => Promise<{ data: unknown }>, unknown][] = [
        ['organization', () => client.commentAnnotations.get(none), []],
        ['document', () => client.commentAnnotations.get({ ...none, documentId }), []],
        [
          'update',
          () => client.commentAnnotations.update({ ...ref, ...none, updatedData: { assignedTo: null } }),
          {},
        ],
        ['delete', () => client.commentAnnotations.delete({ ...ref, ...none }), {}],
        [
          'count',
          () =>
            client.commentAnnotations.count({ organizationId, documentIds: [documentId], userId: 'grace' }),
          { [documentId]: { total: 2600, unread: 2600 } },
        ],
      ]
      for (const [during, call, expected] of calls) {
        await expectShortIterations(async () => expect((await call()).data, during).toEqual(expected))
      }
    },
  )
})
