import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'

const organizationId = 'big'

describe.each(stores)('large document migrations on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  async function scene() {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return { tenant, fill: seed(server.database, tenant.apiKey, organizationId) }
  }

  test('[10.8.1] [S2] migrating a document with many notifications, editors and updates does not block the event loop', async () => {
    const { tenant, fill } = await scene()
    await fill.documents(1)
    await fill.notifications(4000, 1)
    await fill.editors(1000, 1)
    for (let editor = 1; editor <= 5; editor++) await fill.updates(200, editor, 1, 5000)
    await fill.documentGrants(1, 1)
    const { client } = tenant
    await expectShortIterations(async () => {
      const { data } = await client.documents.migrate({
        organizationId,
        documentId: 'd1',
        newDocumentId: 'new',
      })
      const { migrationId } = data
      const statusOf = async () =>
        (await client.documents.migrateStatus({ organizationId, migrationId })).data.status
      await expect.poll(statusOf, { timeout: 60_000 }).toBe('completed')
    })
    const { read } = server.database
    for (const [table, count] of [
      ['notifications', 4000],
      ['editors', 1000],
      ['editor_updates', 1000],
    ] as const) {
      const { moved } = await read
        .selectFrom(table as 'editors')
        .select((eb) => eb.fn.countAll().as('moved'))
        .where('api_key', '=', tenant.apiKey)
        .where('document_id', '=', 'new')
        .executeTakeFirstOrThrow()
      expect([table, Number(moved)]).toEqual([table, count])
    }
    expect((await client.users.get({ organizationId, documentId: 'new' })).data).toHaveLength(1)
  })

  test('[10.8.1] [S1] [S2] the grants of a migrated document move in short steps, and readers never see a part of them', async () => {
    const { tenant, fill } = await scene()
    const { client } = tenant
    await fill.documents(2)
    await fill.usersOf('d1', 4000)
    const target = { organizationId, documentId: 'd2' }
    await client.users.add({ ...target, users: [{ userId: 'u7', accessRole: 'viewer' }, { userId: 'u8' }] })
    await client.users.delete({ ...target, userIds: ['u8'] })
    const rolesIn = async (documentId: string) => {
      const userIds = ['u1', 'u7', 'u8', 'u4000']
      const { data } = await client.users.get({ organizationId, documentId, userIds })
      const users = data as { userId: string; accessRole: string }[]
      return Object.fromEntries(users.map(({ userId, accessRole }) => [userId, accessRole]))
    }
    const before = { u7: 'viewer' }
    const after = { u1: 'editor', u7: 'viewer', u8: 'editor', u4000: 'editor' }
    await runInShortSteps(server, async () => {
      await client.documents.migrate({ organizationId, documentId: 'd1', newDocumentId: 'd2' })
      let roles: object = before
      while (Object.keys(roles).length === 1) {
        expect(roles).toEqual(before)
        roles = await rolesIn('d2')
      }
      expect(roles).toEqual(after)
      expect(await rolesIn('d1')).toEqual({})
    })
  })

  test('[10.9] the status of a long migration is in_progress until nothing is left, and then completed', async () => {
    const { tenant, fill } = await scene()
    const { client } = tenant
    await fill.documents(1)
    await fill.usersOf('d1', 4000)
    const { migrationId } = (
      await client.documents.migrate({ organizationId, documentId: 'd1', newDocumentId: 'new' })
    ).data
    const leftOver = async () => {
      const all = server.database.read.selectFrom('grants').select((eb) => eb.fn.countAll().as('count'))
      const { count } = await all
        .where('api_key', '=', tenant.apiKey)
        .where('resource_id', '=', 'd1')
        .executeTakeFirstOrThrow()
      return Number(count)
    }
    let partly = 0
    for (let status = 'pending'; status !== 'completed';) {
      const left = await leftOver()
      status = (await client.documents.migrateStatus({ organizationId, migrationId })).data.status
      if (left > 0 && left < 4000 && status === 'in_progress') partly++
    }
    expect(partly).toBeGreaterThan(0)
    expect(await leftOver()).toBe(0)
  })

  test('[10.8.1] [10.9] the next server finishes moving the grants when a server stops during a migration', async () => {
    const first = await startServer(store)
    const tenant = await given.tenant(first)
    await given.organization(tenant, organizationId)
    const fill = seed(first.database, tenant.apiKey, organizationId)
    await fill.documents(1)
    await fill.usersOf('d1', 4000)
    await fill.notifications(1000, 1)
    const migrationInput = { organizationId, documentId: 'd1', newDocumentId: 'new' }
    await tenant.client.documents.migrate(migrationInput)
    const grantsOn = async (database: typeof first.database, documentId: string) => {
      const all = database.read.selectFrom('grants').select((eb) => eb.fn.countAll().as('count'))
      return Number((await all.where('resource_id', '=', documentId).executeTakeFirstOrThrow()).count)
    }
    await expect.poll(() => grantsOn(first.database, 'new'), { interval: 1 }).toBeGreaterThan(0)
    await first.server.stop()
    expect(await grantsOn(first.database, 'd1')).toBeGreaterThan(0)
    // Without this, another server would wait for the lease to end.
    await first.database.write((db) => db.updateTable('deletions').set({ leased_until: 0 }).execute())
    await first.database.close()
    const second = await startServer(store, { data: first.data })
    const { apiKey, authToken } = tenant
    const client = second.client({ apiKey, authToken })
    const users = async (documentId: string) =>
      (await client.users.get({ organizationId, documentId, userIds: ['u1', 'u4000'] })).data.length
    const list = { organizationId, documentId: 'new', pageSize: 1000 }
    expect(await users('new')).toBe(2)
    expect(await users('d1')).toBe(0)
    expect((await client.notifications.get(list)).data).toHaveLength(1000)
    expect(await grantsOn(second.database, 'new')).toBe(4000)
    expect(await grantsOn(second.database, 'd1')).toBe(0)
    await second.stop()
  })
})
