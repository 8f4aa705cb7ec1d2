import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { recordSqlite } from '../../support/measures/sqlite-statements.ts'
import { seed } from '../../support/data/large-data.ts'
import { comment, commentCalls, documentId, organizationId, ref } from './calls.ts'

const page = { ...ref, pageSize: 50 }

describe.each(stores)('the statements of a page of annotations on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)
  afterEach(() => vi.restoreAllMocks())

  test('[19.2.2] a page of fifty annotations takes as many statements as a page of one', async () => {
    const { client } = await tenantWithDocument()
    const add = (count: number, from: number) =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: Array.from({ length: count }, (_, index) => ({
          commentData: [0, 1, 2, 3, 4].map((one) =>
            comment(`{{ada}} ${one}`, { from: { userId: `u${(from + index) % 50}` } }),
          ),
        })),
      })
    const sqlite = recordSqlite()
    const postgres = vi.spyOn(pg.Client.prototype, 'query')
    /** The statements of one read, without those that check the credentials. */
    const countOnce = async (expected: number) => {
      sqlite.clear()
      postgres.mockClear()
      expect((await client.commentAnnotations.get(page)).data).toHaveLength(expected)
      const texts = [
        ...sqlite.statements(),
        ...postgres.mock.calls.map(([query]: unknown[]) =>
          typeof query === 'string' ? query : (query as { text: string }).text,
        ),
      ]
      return texts.filter((text) => /annotation|comment|from "(users|documents)"/.test(text)).length
    }
    /** The least of three reads: jobs of the server can run statements at the same time. */
    const count = async (expected: number) =>
      Math.min(await countOnce(expected), await countOnce(expected), await countOnce(expected))
    await add(1, 0)
    expect(await count(1)).toBe(7)
    await add(49, 1)
    expect(await count(50)).toBe(store === 'sqlite' ? 3 + 4 * 50 : 7)
  })
})

describe('the statements of adding annotations on PostgreSQL', () => {
  const server = useServer('postgres', { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)
  afterEach(() => vi.restoreAllMocks())

  test('[19.1.5] many annotations with many mentions are added with few statements', async () => {
    const { client } = await tenantWithDocument()
    const users = Array.from({ length: 20 }, (_, index) => ({ userId: `u${index}` }))
    await client.users.add({ organizationId, users })
    const text = users.map(({ userId }) => `{{${userId}}}`).join(' ')
    const commentData = [comment(text, { triggerNotification: true })]
    const query = vi.spyOn(pg.Client.prototype, 'query')
    const commentAnnotations = Array.from({ length: 100 }, () => ({ commentData }))
    await client.commentAnnotations.add({ ...ref, commentAnnotations })
    const texts = query.mock.calls.map(([one]: unknown[]) =>
      typeof one === 'string' ? one : (one as { text: string }).text,
    )
    // Not those of the jobs, which start before the answer arrives.
    const written = texts.filter((one) => /insert into "?(annotation|comment|event|pending|jobs)/.test(one))
    expect(written.length).toBeGreaterThan(5)
    expect(written.length).toBeLessThan(30)
  })
})

describe('the rows that a page of annotations reads', () => {
  const server = useServer('sqlite', { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)
  afterEach(() => vi.restoreAllMocks())

  test('[19.2.2] a page reads as many rows in a document with 10,000 annotations as in one with 60', async () => {
    const rows: number[] = []
    for (const count of [60, 10_000]) {
      const { client, apiKey } = await tenantWithDocument()
      await seed(server.database, apiKey, organizationId).annotations(count, documentId)
      const sqlite = recordSqlite()
      expect((await client.commentAnnotations.get(page)).data).toHaveLength(50)
      rows.push(sqlite.rows())
      sqlite.stop()
    }
    expect(rows[1]).toBe(rows[0])
  })
})
