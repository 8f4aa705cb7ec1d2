import { ApiError } from '@plenum/protocol'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { createPostgresDatabase, startServer, stores, useServer } from '../../../test/support/harness.ts'
import * as organizations from '../organizations.ts'
import type { Db } from './db.ts'
import { openDatabase } from './open.ts'

const numbers = Array.from({ length: 40 }, (_, n) => n)
const ids = numbers.map((n) => `o${n}`)
const add = (apiKey: string, organizationId: string) => (db: Db) =>
  organizations.add(db, apiKey, [{ organizationId, data: {} }], 1)

describe.each(stores)('short writes on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const stored = async (apiKey: string) => {
    const found = await organizations.findMany(server.database.read, apiKey, ids)
    return found.map(({ id }) => id).toSorted()
  }

  /** On SQLite, transactions follow each other. On PostgreSQL, one does not see what another has not committed. */
  const transactionOf = async (db: Db) => {
    if (store === 'sqlite') return 'all'
    const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(db)
    return rows[0]?.id
  }

  test('[P2.1] a write that fails after a statement is undone, and those that share its transaction are stored', async () => {
    const { apiKey } = await given.tenant(server)
    const results = await Promise.allSettled(
      ids.map((id, n) =>
        server.database.writeShort(async (db) => {
          await add(apiKey, id)(db)
          if (n === 5) throw new ApiError('ABORTED', 'refused after it wrote')
          if (n === 7) throw new Error('failed after it wrote')
        }, apiKey),
      ),
    )
    const failed = results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))
    expect(failed).toEqual([5, 7])
    expect(await stored(apiKey)).toEqual(ids.filter((_, n) => n !== 5 && n !== 7).toSorted())
  })

  test('[P2.1] a write that is refused before it writes does not make the others run twice', async () => {
    const { apiKey } = await given.tenant(server)
    const runs: string[] = []
    const results = await Promise.allSettled(
      ids.map((id, n) =>
        server.database.writeShort(async (db) => {
          runs.push(id)
          if (n === 5) throw new ApiError('NOT_FOUND', 'refused')
          await add(apiKey, id)(db)
        }, apiKey),
      ),
    )
    expect(results[5]).toMatchObject({ status: 'rejected', reason: { message: 'refused' } })
    expect(runs).toEqual(ids)
  })

  test('[P2.1] a write reads what an earlier write of the same transaction stored', async () => {
    const { apiKey } = await given.tenant(server)
    const seen = await Promise.all(
      ids.map((id) =>
        server.database.writeShort(async (db) => {
          const before = await organizations.findMany(db, apiKey, ids)
          await add(apiKey, id)(db)
          return { count: before.length, transaction: await transactionOf(db) }
        }, apiKey),
      ),
    )
    const together = seen.filter(({ transaction }, n) => n > 0 && transaction === seen[n - 1]?.transaction)
    expect(together.length).toBeGreaterThan(0)
    expect(together.map(({ count }) => count)).toEqual(
      together.map((one) => (seen[seen.indexOf(one) - 1]?.count ?? 0) + 1),
    )
  })
})

test('[P2.1] a write for which a shared transaction had no time does not wait for the sync of that transaction', async () => {
  const held: (() => void)[] = []
  let isHeld = false
  const server = await startServer('sqlite', {
    sync: (_fd, done) => (isHeld ? held.push(() => done(null)) : done(null)),
  })
  const { apiKey } = await given.tenant(server)
  isHeld = true
  const long = server.database.writeShort(async (db) => {
    await add(apiKey, 'o1')(db)
    for (const end = performance.now() + 50; performance.now() < end;);
  }, apiKey)
  const next = server.database.writeShort(add(apiKey, 'o2'), apiKey)
  const found = async () => (await organizations.findMany(server.database.read, apiKey, ids)).length
  await expect.poll(found).toBe(2)
  isHeld = false
  for (const release of held) release()
  await Promise.all([long, next])
  await server.stop()
})

test('[P2.1] a write whose statement takes too long fails alone, and those that share its transaction are stored', async () => {
  const url = await createPostgresDatabase()
  const options = { url, dataDir: '', durability: 'relaxed', poolSize: 4, timeoutMs: 4_000 } as const
  const database = await openDatabase(options)
  onTestFinished(() => database.close())
  let slowRuns = 0
  const insert = (name: string) =>
    database.writeShort(async (db) => {
      await db.insertInto('locks').values({ name, taken: 1, taken_at: 0 }).execute()
    }, 'lane')
  const slow = database.writeShort(async (db) => {
    slowRuns++
    await sql`select pg_sleep(20)`.execute(db)
  }, 'lane')
  const [first, failed, last] = await Promise.allSettled([insert('first'), slow, insert('last')])
  expect([first?.status, last?.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '57014' } })
  expect(slowRuns).toBe(1)
  const rows = await database.read.selectFrom('locks').select('name').orderBy('name').execute()
  expect(rows).toEqual([{ name: 'first' }, { name: 'last' }])
})
