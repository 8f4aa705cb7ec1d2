import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { userTokenSeconds } from '../access/tokens/token-claims.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createMetrics } from '../platform/metrics/metrics.ts'
import type { Database } from '../store/engine/db.ts'
import * as migrations from '../store/documents/document-migrations.ts'
import * as given from '../../test/support/given.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import { stores, useServer } from '../../test/support/harness.ts'

const day = 24 * 60 * 60 * 1000

/** What housekeeping deletes when it has expired, in this order. */
const kindsOfData = [
  'idempotencyKeys',
  'locks',
  'loginLinks',
  'addressCalls',
  'presence',
  'documentMigrations',
  'erasures',
  'endedGrants',
  'signals',
  'deliveries',
  'events',
]

describe.each(stores)('housekeeping on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const documentRef = { organizationId: 'o1', documentId: 'd1' }

  function housekeeping(afterMs: number, database: Database = server.database) {
    const logged: string[] = []
    const log = pino({ base: undefined }, { write: (line: string) => void logged.push(line) })
    const clock = new SteppedClock(Date.now() + afterMs)
    const observe = createMetrics().job
    return { ...createHousekeeping({ database, log, clock, observe, eventRetentionDays: 30 }), clock, logged }
  }

  const presentUsers = async ({ apiKey }: given.Tenant) => {
    const rows = await server.database.read
      .selectFrom('presence')
      .select('user_id')
      .where('api_key', '=', apiKey)
      .execute()
    return rows.map((row) => row.user_id)
  }
  const storedAnswers = async ({ apiKey }: given.Tenant) =>
    (
      await server.database.read
        .selectFrom('idempotency_keys')
        .select('idempotency_key')
        .where('scope', '=', apiKey)
        .execute()
    ).length

  afterEach(() => {
    server.clock.offsetMs = 0
  })

  test('[14.3] housekeeping removes an erasure 30 days after its end', async () => {
    const { client } = await given.tenant(server)
    const { jobId } = (await client.userData.delete({ userIds: ['nobody'] })).data
    const isCompleted = async () => (await client.userData.deleteStatus({ jobId })).data.isDeleteCompleted
    await expect.poll(isCompleted).toBe(true)
    await housekeeping(29 * day).run()
    expect(await isCompleted()).toBe(true)
    await housekeeping(31 * day).run()
    await expect(isCompleted()).rejects.toThrow('Job does not exist.')
  })

  test('[15] housekeeping removes presence entries without an update for 24 hours, for every tenant', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    const users = Array.from({ length: 500 }, (_, index) => ({ userId: `u${index}` }))
    for (const documentId of ['d1', 'd2', 'd3'])
      await one.client.presence.add({ ...documentRef, documentId, users })
    await other.client.presence.add({ ...documentRef, users: [{ userId: 'stale' }] })
    server.clock.offsetMs = day / 2
    await other.client.presence.add({ ...documentRef, users: [{ userId: 'fresh' }] })

    await housekeeping(day - 60_000).run()
    expect(await presentUsers(one)).toHaveLength(1500)
    await housekeeping(day).run()
    expect(await presentUsers(one)).toEqual([])
    expect(await presentUsers(other)).toEqual(['fresh'])
  })

  test('[10.9] housekeeping removes migrations 30 days after their end, and keeps unfinished ones', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    await server.database.write(async (db) => {
      for (const [migrationId, endedAt] of [
        ['old', 0],
        ['recent', day],
        ['running', undefined],
      ] as const) {
        const migration = { migrationId, documentId: 'd1', newDocumentId: 'd2' }
        await migrations.add(db, apiKey, 'o1', migration, Date.now())
        if (endedAt !== undefined) {
          await migrations.advance(db, apiKey, 'o1', migrationId, 'completed', Date.now() + endedAt)
        }
      }
    })
    await housekeeping(30 * day + 60_000).run()
    const found = await Promise.all(
      ['old', 'recent', 'running'].map((id) => migrations.find(server.database.read, apiKey, 'o1', id)),
    )
    expect(found.map((migration) => migration?.status)).toEqual([undefined, 'completed', 'pending'])
  })

  test('[25.3.2] housekeeping removes ended grants of every tenant when all tokens issued before the grant ended have expired', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    const resource = (id: string, more = {}) => ({ type: 'organization' as const, id, ...more })
    const seconds = Math.floor(Date.now() / 1000)
    const grant = ({ client }: given.Tenant, ...resources: ReturnType<typeof resource>[]) =>
      client.permissions.add({ user: { userId: 'u1' }, permissions: { resources } })
    const remove = ({ client }: given.Tenant, id: string) =>
      client.permissions.remove({ userId: 'u1', permissions: { resources: [resource(id)] } })
    const kept = async ({ apiKey }: given.Tenant) => {
      const rows = server.database.read
        .selectFrom('grants')
        .select('resource_id')
        .where('api_key', '=', apiKey)
        .orderBy('resource_id')
      return (await rows.execute()).map((row) => row.resource_id)
    }
    await grant(
      one,
      resource('ever'),
      resource('long', { expiresAt: seconds + 30 * 86_400 }),
      resource('over', { expiresAt: seconds + 60 }),
    )
    await remove(one, 'gone')
    await remove(other, 'gone')
    server.clock.offsetMs = day
    await grant(other, resource('ever'))
    await remove(other, 'late')

    await housekeeping(userTokenSeconds * 1000).run()
    expect(await kept(one)).toEqual(['ever', 'gone', 'long', 'over'])
    await housekeeping(userTokenSeconds * 1000 + day / 2).run()
    expect(await kept(one)).toEqual(['ever', 'long'])
    expect(await kept(other)).toEqual(['ever', 'late'])
  })

  test('[I1.2] housekeeping removes the stored answer of a request with an idempotency key after 24 hours', async () => {
    const tenant = await given.tenant(server)
    const options = { idempotencyKey: randomUUID() }
    await tenant.client.presence.add({ ...documentRef, users: [{ userId: 'u1' }] }, options)
    await housekeeping(day - 60_000).run()
    expect(await storedAnswers(tenant)).toBe(1)
    await housekeeping(day).run()
    expect(await storedAnswers(tenant)).toBe(0)
  })

  test.runIf(store === 'postgres')(
    '[O5] housekeeping removes locks that no transaction has taken for a day, and not one that a transaction holds',
    async () => {
      const { database } = server
      const names = async () =>
        (await database.read.selectFrom('locks').select('name').execute()).map((row) => row.name)
      for (const name of ['old', 'held', 'new']) await database.write((db) => database.lock(db, name))
      await database.write((db) =>
        db
          .updateTable('locks')
          .set({ taken_at: Date.now() + day })
          .where('name', '=', 'new')
          .execute(),
      )
      await database.write(async (db) => {
        await database.lock(db, 'held')
        await housekeeping(day + 60_000).run()
        expect((await names()).sort()).toEqual(['held', 'new'])
      })
      // Its row is there again, and the lock excludes others as before.
      await database.write((db) => database.lock(db, 'old'))
      expect(await names()).toContain('old')
    },
  )

  test('[15] housekeeping logs a warning for each kind of data when the database fails', async () => {
    const unavailable: Database = {
      ...server.database,
      write: () => Promise.reject(new Error('unavailable')),
    }
    const keeper = housekeeping(0, unavailable)
    await keeper.run()
    expect(keeper.logged.map((line) => JSON.parse(line) as { level: number; job: string })).toMatchObject(
      kindsOfData.map((what) => ({ level: 40, job: `${what}.prune` })),
    )
  })

  test('[15] housekeeping runs a minute after the start and then every hour, until it is stopped', async () => {
    let writes = 0
    const counting: Database = {
      ...server.database,
      write(work) {
        writes++
        return server.database.write(work)
      },
    }
    const keeper = housekeeping(0, counting)
    keeper.start()
    keeper.clock.step(59_999)
    expect(writes).toBe(0)
    keeper.clock.step(1)
    await vi.waitFor(() => expect(writes).toBe(kindsOfData.length))
    keeper.clock.step(60 * 60 * 1000)
    await vi.waitFor(() => expect(writes).toBe(2 * kindsOfData.length))
    await keeper.stop()
    keeper.clock.step(10 * 60 * 60 * 1000)
    expect(keeper.clock.pending).toBe(0)
    expect(writes).toBe(2 * kindsOfData.length)
  })
})
