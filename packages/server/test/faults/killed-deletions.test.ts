import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { createClient } from '@plenum/client'
import { afterAll, expect, test } from 'vitest'
import type { Database } from '../../src/store/engine/db.ts'
import { openDatabase } from '../../src/store/engine/open.ts'
import * as given from '../support/given.ts'
import { secretKey, startServer } from '../support/harness.ts'
import { seed } from '../support/data/large-data.ts'
import { startProcess } from '../support/processes/process.ts'
import { startWith } from '../support/processes/settings.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-killed-'))
const env = { DATA_DIR: dataDir, SECRET_KEY: secretKey }
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Runs the work on the data folder while no server runs. */
async function onDisk<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ dataDir, durability: 'full', poolSize: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Creates a tenant with that organization, and fills the organization. Returns the credentials. */
async function createTenant(
  organizationId: string,
  fill: (filler: ReturnType<typeof seed>) => Promise<unknown>,
): Promise<{ apiKey: string; authToken: string; retries: number }> {
  const server = await startServer('sqlite', { data: { dataDir, databaseUrl: undefined } })
  const tenant = await given.tenant(server)
  await given.organization(tenant, organizationId)
  await fill(seed(server.database, tenant.apiKey, organizationId))
  await server.server.stop()
  await server.database.close()
  return { apiKey: tenant.apiKey, authToken: tenant.authToken, retries: 0 }
}

/** Resolves when the number of rows, which another process changes, is in the range. */
async function untilRows(
  rows: string,
  { min = 0, max = Infinity }: { min?: number; max?: number },
): Promise<void> {
  const database = new DatabaseSync(join(dataDir, 'plenum.db'), { readOnly: true })
  const count = database.prepare(`select count(*) as count from ${rows}`)
  const polled = { interval: 1, timeout: 60_000 }
  const isReached = (found: number) => found >= min && found <= max
  await expect.poll(() => isReached(Number(count.get()?.count)), polled).toBe(true)
  database.close()
}

test(
  '[8.4.6] [8.4.3] [P1] a deletion of an organization whose server is killed in the middle hides the remaining documents, and the next start finishes it',
  { retry: 0 },
  async () => {
    const organizationId = 'deleted'
    const documents = 30_000
    const credentials = await createTenant(organizationId, (fill) => fill.documents(documents))
    const countAll = () =>
      onDisk(async ({ read }) => {
        const { count } = await read
          .selectFrom('documents')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        const begun = await read.selectFrom('deletions').select('deletion_id').execute()
        return { count, isBegun: begun.length > 0 }
      })

    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    const deleted = client.organizations.delete({ organizationIds: [organizationId] }).catch(() => undefined)
    await untilRows('documents', { max: documents - 1 })
    await victim.kill()
    expect(await deleted).toBeUndefined()
    const { count, isBegun } = await countAll()
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(documents)
    expect(isBegun).toBe(true)

    const next = await startWith(env)
    const reader = createClient({ url: next.url, ...credentials })
    expect((await reader.documents.get({ organizationId, pageSize: 1000 })).data).toEqual([])
    expect((await reader.organizations.get({ organizationIds: [organizationId] })).data).toEqual([])
    await next.end()
    expect(await countAll()).toEqual({ count: 0, isBegun: false })
  },
)

test(
  '[18.1.3] [P1] a notification whose server is killed while it writes the recipients is never shown and leaves no rows',
  { retry: 0 },
  async () => {
    const organizationId = 'members'
    const place = { organizationId, documentId: 'd' }
    const credentials = await createTenant(organizationId, (fill) => fill.members(40_000))
    const rowsLeft = () =>
      onDisk(async ({ read }) => {
        let rows = 0
        for (const table of ['notification_recipients', 'notifications', 'deletions'] as const) {
          const all = read.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count'))
          rows += (await all.executeTakeFirstOrThrow()).count
        }
        return rows
      })
    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    let isAnswered = false
    const added = client.notifications
      .add({
        ...place,
        createOrganization: true,
        createDocument: true,
        actionUser: { userId: 'actor' },
        displayHeadlineMessageTemplate: 'x',
        displayBodyMessage: 'x',
        notifyUsers: [],
      })
      .then(
        () => (isAnswered = true),
        () => undefined,
      )
    await untilRows('notification_recipients', { min: 101 })
    await victim.kill()
    await added
    expect(isAnswered).toBe(false)
    expect(await rowsLeft()).toBeGreaterThan(100)

    // A server that stops leaves the rest to the next one.
    for (let left = 1; left > 0; left = await rowsLeft()) {
      const next = await startWith(env)
      const reader = createClient({ url: next.url, ...credentials })
      expect((await reader.notifications.get(place)).data).toEqual([])
      await next.end()
    }
  },
)

test(
  '[10.8.1] [10.9] [P1] a migration whose server is killed in the middle loses no grant, and the next start finishes it',
  { retry: 0 },
  async () => {
    const organizationId = 'migrated'
    const users = 30_000
    const credentials = await createTenant(organizationId, async (fill) => {
      await fill.documents(1)
      await fill.usersOf('d1', users)
    })
    const grantsOn = (documentId: string) =>
      onDisk(async ({ read }) => {
        const all = read.selectFrom('grants').select((eb) => eb.fn.countAll<number>().as('count'))
        return (await all.where('resource_id', '=', documentId).executeTakeFirstOrThrow()).count
      })

    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    await client.documents.migrate({ organizationId, documentId: 'd1', newDocumentId: 'd2' })
    await untilRows(`grants where resource_id = 'd1'`, { max: users - 1 })
    await victim.kill()
    const moved = await grantsOn('d2')
    expect(moved).toBeGreaterThan(0)
    expect(moved).toBeLessThan(users)
    expect(moved + (await grantsOn('d1'))).toBe(users)

    const next = await startWith(env)
    const reader = createClient({ url: next.url, ...credentials })
    const documents = async () => (await reader.documents.get({ organizationId })).data.map(({ id }) => id)
    await expect.poll(documents).toEqual(['d2'])
    const userIds = ['u1', `u${users}`]
    expect((await reader.users.get({ organizationId, documentId: 'd2', userIds })).data).toHaveLength(2)
    await next.end()
    expect(await grantsOn('d2')).toBe(users)
  },
)
