import { ApiError } from '@plenum/protocol'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Db } from '../../src/store/engine/db.ts'
import { openDatabase } from '../../src/store/engine/open.ts'
import * as organizations from '../../src/store/organizations.ts'
import * as given from '../support/given.ts'
import { createPostgresDatabase, startServer, stores, useServer } from '../support/harness.ts'
import { withPostgres } from '../support/faults/postgres-faults.ts'

const numbers = Array.from({ length: 40 }, (_, n) => n)
const ids = numbers.map((n) => `o${n}`)
const add = (apiKey: string, organizationId: string) => (db: Db) =>
  organizations.add(db, apiKey, [{ organizationId, data: {} }], 1)
const namesOf = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status)

describe.each(stores)('short writes on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const stored = async (apiKey: string) => {
    const found = await organizations.findMany(server.database.read, apiKey, ids)
    return found.map(({ id }) => id).toSorted()
  }

  test('[P2.1] requests that change the same user at the same time all take effect', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    await client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Ada' }] })
    await Promise.all(
      numbers.map((n) =>
        client.users.update({ organizationId, users: [{ userId: 'u1', [`field${n}`]: n }] }),
      ),
    )
    const { data } = await client.users.get({ organizationId })
    expect(data).toMatchObject([Object.fromEntries(numbers.map((n) => [`field${n}`, n]))])
  })

  test('[P2.1] requests that merge into the same live state at the same time all take effect', async () => {
    const { client } = await given.tenant(server)
    const state = { organizationId: 'o1', documentId: 'd1', liveStateDataId: 'slide' }
    await Promise.all(
      numbers.map((n) => client.liveState.broadcast({ ...state, data: { [`key${n}`]: n }, merge: true })),
    )
    const { data } = await client.liveState.broadcast({ ...state, data: {}, merge: true })
    expect(data).toEqual({ success: true })
    const row = await server.database.read
      .selectFrom('live_states')
      .select('data')
      .where('document_id', '=', 'd1')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(row.data)).toEqual(Object.fromEntries(numbers.map((n) => [`key${n}`, n])))
  })

  test('[P2.1] [22.1] a profile that would be too large is refused, and requests that arrive with it are stored', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    await client.users.add({ organizationId, users: [{ userId: 'u1', text: 'x'.repeat(12_000) }] })
    const update = (fields: object) =>
      client.users.update({ organizationId, users: [{ userId: 'u1', ...fields }] })
    const results = await Promise.allSettled([
      update({ first: 1 }),
      update({ more: 'x'.repeat(15_000) }),
      update({ last: 1 }),
    ])
    expect(namesOf(results)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { status: 'INVALID_ARGUMENT' } })
    const { data } = await client.users.get({ organizationId })
    expect(data).toMatchObject([{ first: 1, last: 1 }])
    expect(data).not.toMatchObject([{ more: expect.anything() }])
  })

  test('[P2.1] an update that names two levels is refused, and requests that arrive with it are stored', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    const users = [{ userId: 'u1', name: 'before' }]
    await client.users.add({ organizationId, users })
    const both = { documentId: 'd1', folderId: 'f1' }
    const results = await Promise.allSettled([
      client.users.update({ organizationId, ...both, users }),
      client.users.update({ organizationId, users: [{ userId: 'u1', name: 'after' }] }),
    ])
    expect(namesOf(results)).toEqual(['rejected', 'fulfilled'])
    expect((await client.users.get({ organizationId })).data).toMatchObject([{ name: 'after' }])
  })

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
          return before.length
        }, apiKey),
      ),
    )
    expect(seen).toEqual(numbers)
  })

  test('[P13] writes of different API keys that share a transaction change only their own data', async () => {
    const tenants = await Promise.all(numbers.slice(0, 8).map(() => given.tenant(server)))
    await Promise.all(
      tenants.map(({ client }) => client.users.add({ organizationId: 'o1', users: [{ userId: 'u1' }] })),
    )
    await Promise.all(
      tenants.flatMap(({ client }, n) => [
        client.users.update({ organizationId: 'o1', users: [{ userId: 'u1', name: `Ada ${n}` }] }),
        client.liveState.broadcast({
          organizationId: 'o1',
          documentId: `d${n}`,
          liveStateDataId: 's',
          data: { n },
        }),
      ]),
    )
    for (const [n, { client }] of tenants.entries()) {
      const { data } = await client.users.get({ organizationId: 'o1' })
      expect(data).toMatchObject([{ userId: 'u1', name: `Ada ${n}` }])
      const documents = await client.documents.get({ organizationId: 'o1' })
      expect(documents.data).toMatchObject([{ id: `d${n}` }])
    }
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

describe('short writes on PostgreSQL', () => {
  test('[P2.1] [O2.5] a write that waits for a locked row does not delay those that arrived with it', async () => {
    const { tenant, block, blocked } = await withPostgres()
    const { client } = tenant
    const users = ['u1', 'u2'].map((userId) => ({ userId, name: 'before' }))
    await client.users.add({ organizationId: 'o1', users })
    const release = await block(`update users set email = 'x' where user_id = 'u1'`)
    const update = (userId: string) =>
      client.users.update({ organizationId: 'o1', users: [{ userId, name: 'after' }] })
    let isFirstStored = false
    const first = update('u1').then(() => (isFirstStored = true))
    const broadcast = client.liveState.broadcast({
      organizationId: 'o1',
      documentId: 'd1',
      liveStateDataId: 's',
      data: {},
    })
    await Promise.all([update('u2'), broadcast])
    expect(isFirstStored).toBe(false)
    await expect.poll(blocked).not.toEqual([])
    await release()
    await first
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
})
