import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DatabaseOptions } from '../../src/store/engine/db.ts'
import { OpenError } from '../../src/store/engine/failures.ts'
import { openDatabase } from '../../src/store/engine/open.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { tables } from '../../src/store/schema/tables.ts'
import * as given from '../support/given.ts'
import { createPostgresDatabase, startServer, stores } from '../support/harness.ts'
import { failToStart } from '../support/processes/process.ts'

const next = '9998-next'

/** Opens the database as a newer version of the server does, which has one more migration. */
async function upgrade(data: Partial<DatabaseOptions>, migration: Migration, name = next) {
  const options = { dataDir: '', durability: 'relaxed', poolSize: 2, ...data } as const
  const database = await openDatabase({ ...options, migrations: { ...migrations, [name]: migration } })
  await database.close()
}

async function connect(databaseUrl: string, name = 'a test'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: name })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const isApplied = async (databaseUrl: string, name = next) => {
  const client = await connect(databaseUrl)
  const { rows } = await client.query('select 1 from kysely_migration where name = $1', [name])
  return rows.length === 1
}

/** A server of this version that serves a tenant. */
async function runningServer() {
  const databaseUrl = await createPostgresDatabase()
  const server = await startServer('postgres', {
    data: { dataDir: '/tmp/plenum-unused', databaseUrl },
    // By TCP: a connection by a Unix socket has no address.
    env: { DATABASE_URL: databaseUrl },
  })
  const tenant = await given.tenant(server)
  let isStopped = false
  const stop = async () => {
    if (!isStopped) await server.stop()
    isStopped = true
  }
  onTestFinished(stop)
  return { databaseUrl, server, tenant, stop }
}

describe('the upgrade of PostgreSQL while an older server runs', () => {
  test('[O3] an older server goes on with all its calls after a newer server has added a column to every table and an index', async () => {
    const { databaseUrl, tenant } = await runningServer()
    const { client } = tenant
    const place = { organizationId: 'o1', documentId: 'd1' }
    const annotationId = 'a1'
    const comment = { from: { userId: 'ada' }, commentText: 'text' }
    // Several times, so that each connection of the pool has the statements prepared.
    const callAll = async (round: string) => {
      await client.users.add({ organizationId: 'o1', users: [{ userId: 'ada', name: round }] })
      await client.users.get({ organizationId: 'o1', userIds: ['ada'] })
      await client.organizations.get({ organizationIds: ['o1'] })
      await client.documents.get({ organizationId: 'o1' })
      await client.crdt.add({ ...place, editorId: round, type: 'text', data: round })
      await client.crdt.get({ ...place, editorId: round })
      await client.liveState.broadcast({ ...place, liveStateDataId: 's', data: { round } })
      await client.presence.add({ ...place, users: [{ userId: 'ada' }] })
      await client.commentAnnotations.add({
        ...place,
        commentAnnotations: [{ annotationId: annotationId + round, commentData: [comment] }],
      })
      const found = await client.commentAnnotations.get({ ...place, annotationIds: [annotationId + round] })
      expect(found.data).toHaveLength(1)
      // They appear when all older transactions have ended.
      await expect.poll(async () => (await client.events.get({})).data.events).not.toEqual([])
      await given.notification(tenant, place)
      await client.notifications.get({ organizationId: 'o1', userId: 'u1' })
    }
    await client.documents.add({
      organizationId: 'o1',
      documents: [{ documentId: 'd1' }],
      createOrganization: true,
    })
    const callMany = (prefix: string) =>
      Promise.all(Array.from({ length: 4 }, (_, index) => callAll(`${prefix}${index}`)))
    await callMany('before')
    // A transaction with an old snapshot. An index that is created concurrently waits for it, and keeps nobody out.
    const [reader, watcher] = [await connect(databaseUrl), await connect(databaseUrl)]
    await reader.query('begin isolation level repeatable read; select 1 from organizations')
    const upgraded = upgrade(
      { url: databaseUrl },
      {
        prepare: async (db) => {
          await sql`create index concurrently if not exists users_by_time on users (api_key, created_at)`.execute(
            db,
          )
        },
        async up(db: Kysely<unknown>) {
          await sql`create index if not exists users_by_time on users (api_key, created_at)`.execute(db)
          for (const table of Object.keys(tables)) {
            await db.schema
              .alterTable(table)
              .addColumn('added', 'integer', (c) => c.notNull().defaultTo(0))
              .execute()
          }
        },
      },
    )
    const isWaiting = async () => {
      const { rows } =
        await watcher.query(`select 1 from pg_stat_activity where query like 'create index concurrently%'
        and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '0.5 s'`)
      return rows.length === 1
    }
    await expect.poll(isWaiting).toBe(true)
    await callMany('meanwhile')
    await reader.query('commit')
    await upgraded
    await callMany('after')
  })

  test('[O3.2] a migration that needs a lock lets the transactions behind it go first, reports what it waits for, and is done once', async () => {
    const { databaseUrl, tenant } = await runningServer()
    const holder = await connect(databaseUrl, 'a backup')
    await holder.query('begin; lock table organizations in access share mode')
    const waits: { transactions?: { application: string }[] }[] = []
    let runs = 0
    const upgraded = upgrade(
      { url: databaseUrl, onUpgradeWaits: (about) => void waits.push(about) },
      {
        async up(db) {
          runs++
          await db.schema.alterTable('organizations').addColumn('added', 'integer').execute()
        },
      },
    )
    // The migration cannot end before the backup does, and calls that need the table are answered before that.
    for (let count = 0; waits.length < 3; count++) {
      await tenant.client.organizations.add({ organizations: [{ organizationId: `o${count}` }] })
    }
    expect(waits[0]?.transactions?.map(({ application }) => application)).toContain('a backup')
    expect(await isApplied(databaseUrl)).toBe(false)
    await holder.query('rollback')
    await upgraded
    expect(await isApplied(databaseUrl)).toBe(true)
    expect(runs).toBe(waits.length + 1)
  })

  test('[O3.3] a migration that older servers cannot work with is refused while one is connected, and done after it has stopped', async () => {
    const { databaseUrl, tenant, stop } = await runningServer()
    const breaking: Migration = {
      isCompatible: false,
      up: (db) => db.schema.alterTable('users').renameColumn('profile', 'details').execute(),
    }
    await expect(upgrade({ url: databaseUrl }, breaking)).rejects.toThrow(
      /^The upgrade 9998-next changes the schema so that .+ Stop them first: plenum [\d.]+ schema \d+ at 127\.0\.0\.1\.$/,
    )
    await tenant.client.users.add({ organizationId: 'o1', users: [{ userId: 'ada' }] })
    await stop()
    await upgrade({ url: databaseUrl }, breaking)
    expect(await isApplied(databaseUrl)).toBe(true)
  })
})

describe('a database of a newer version', () => {
  test.each(stores)(
    '[O3.1] an older server refuses to start, in one sentence, and changes nothing: %s',
    async (store) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'plenum-upgrade-'))
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
      const url = store === 'postgres' ? await createPostgresDatabase() : undefined
      await upgrade({ dataDir, ...(url && { url }) }, { up: async () => {} })
      const says =
        'A newer version of Plenum has upgraded the database: this version does not know its schema 9998-next. Start the newer version, or restore a backup from before the upgrade.'
      const env = {
        DATA_DIR: dataDir,
        PORT: '0',
        SECRET_KEY: 'a secret key that only these tests use',
        ...(url && { DATABASE_URL: url }),
      }
      expect(await failToStart(env)).toEqual({ code: 1, says: `Plenum cannot start: ${says}\n` })

      // Neither does one that lacks two migrations, of which the first would be its own.
      const other = '9997-own'
      const failed = upgrade({ dataDir, ...(url && { url }) }, { up: async () => {} }, other)
      await expect(failed).rejects.toThrow(new OpenError(says))
      if (url) expect(await isApplied(url, other)).toBe(false)
    },
  )
})
