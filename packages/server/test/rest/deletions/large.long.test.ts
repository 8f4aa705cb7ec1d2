import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import {
  createPostgresDatabase,
  startServer,
  stores,
  type TestServer,
  useServer,
} from '../../support/harness.ts'
import { seed, seedUsers } from '../../support/data/large-data.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const organizationId = 'big'
/** So many that a test can do something else during the deletion. */
const veryMany = 4000

const deletionsOf = async ({ database }: TestServer, { apiKey }: given.Tenant) =>
  (await database.read.selectFrom('deletions').select('scope').where('api_key', '=', apiKey).execute()).length
const waitUntilBegun = (server: TestServer, tenant: given.Tenant) =>
  expect.poll(() => deletionsOf(server, tenant), { interval: 1 }).toBeGreaterThan(0)

/** The number of remaining rows of the organization, by table. */
async function leftOf({ database: { read } }: TestServer, { apiKey }: given.Tenant) {
  const tables = [
    'organizations',
    'folders',
    'documents',
    'grants',
    'editors',
    'editor_updates',
    'notifications',
    'notification_recipients',
    'notification_configs',
    'activities',
    'user_groups',
    'user_group_members',
    'presence',
    'live_states',
  ] as const
  const left: Record<string, number> = {}
  for (const table of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)}
      where api_key = ${apiKey} and organization_id = ${organizationId}`.execute(read)
    if (Number(rows[0]?.count) > 0) left[table] = Number(rows[0]?.count)
  }
  return left
}

async function tenantWith(server: TestServer) {
  const tenant = await given.tenant(server)
  await given.organization(tenant, organizationId)
  return { tenant, fill: seed(server.database, tenant.apiKey, organizationId) }
}

describe.each(stores)('large deletions on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  /** More rows than one transaction may remove (`runInShortSteps`). */
  const many = store === 'sqlite' ? 2000 : 3200

  const deleting = (work: () => Promise<unknown>) => runInShortSteps(server, work)

  test('[8.4.1] [S1] [S2] deleting an organization with many documents runs in short steps', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(many)
    await deleting(() => tenant.client.organizations.delete({ organizationIds: [organizationId] }))
    expect(await leftOf(server, tenant)).toEqual({})
    expect(await deletionsOf(server, tenant)).toBe(0)
  })

  test('[8.4] [8.4.1] [S1] [S2] deleting an organization with many rows of every kind, and users without another organization, runs in short steps', async () => {
    const { tenant, fill } = await tenantWith(server)
    await tenant.client.folders.add({ organizationId, folders: [{ folderId: 'top' }] })
    await fill.folders(600, 'top')
    await fill.documents(100)
    await fill.editors(300, 100)
    for (let editor = 1; editor <= 3; editor++) await fill.updates(200, editor, 100, 5000)
    await fill.notifications(600, 100)
    await fill.recipients(1000, 600)
    await seedUsers(server.database, tenant.apiKey, 600)
    await fill.members(600)
    await fill.documentGrants(1000, 100)
    const groups = { organizationId, organizationUserGroups: [{ groupId: 'g', groupName: 'G' }] }
    await tenant.client.userGroups.add(groups)
    await fill.groupMembers(600, 'g')
    await tenant.client.users.add({ organizationId: 'other', users: [{ userId: 'u1' }] })
    await tenant.client.users.delete({ organizationId, userIds: ['u2'] })

    await deleting(() => tenant.client.organizations.delete({ organizationIds: [organizationId] }))
    // The removals stay, so older tokens give those users no access to a recreated organization (25.3.4).
    expect(await leftOf(server, tenant)).toEqual({ grants: 2 })
    const users = server.database.read.selectFrom('users').select('user_id')
    const left = await users.where('api_key', '=', tenant.apiKey).execute()
    expect(left.map((user) => user.user_id)).toEqual(['u1'])
  })

  test('[9.4] [8.4.1] [S1] [S2] deleting a folder with many subfolders and documents runs in short steps', async () => {
    const { tenant, fill } = await tenantWith(server)
    await tenant.client.folders.add({
      organizationId,
      folders: [{ folderId: 'top' }, { folderId: 'deep', parentFolderId: 'top' }, { folderId: 'other' }],
    })
    await fill.folders(many / 2, 'deep')
    await fill.documents(many / 2, { folderId: 'deep', prefix: 'd' })
    await fill.documents(100, { folderId: 'f7', prefix: 'in f7 ' })
    await fill.documents(3, { folderId: 'other', prefix: 'kept ' })
    await fill.documentGrants(many / 2, 100)
    await deleting(() => tenant.client.folders.delete({ organizationId, folderId: 'top' }))
    expect(await leftOf(server, tenant)).toEqual({ organizations: 1, folders: 1, documents: 3 })
  })

  test('[10.4] [8.4.1] [S1] [S2] deleting documents with long logs and many notifications runs in short steps', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(201)
    await fill.editors(402, 201)
    for (let editor = 1; editor <= 3; editor++) await fill.updates(200, editor, 201, 10_000)
    await fill.notifications(402, 201)
    await fill.recipients(1608, 402)
    const documentIds = Array.from({ length: 200 }, (_, index) => `d${index + 1}`)
    await deleting(async () => {
      const { data } = await tenant.client.documents.delete({ organizationId, documentIds })
      expect(Object.values(data).every(({ success }) => success)).toBe(true)
    })
    expect(await leftOf(server, tenant)).toEqual({
      organizations: 1,
      documents: 1,
      editors: 2,
      notifications: 2,
      notification_recipients: 8,
    })
  })

  test('[12.4] [8.4.1] [S1] [S2] removing users with many grants from an organization runs in short steps', async () => {
    const { tenant, fill } = await tenantWith(server)
    await seedUsers(server.database, tenant.apiKey, 400)
    await fill.members(300)
    await fill.documentGrants(many, 400)
    await seed(server.database, tenant.apiKey, 'other').documentGrants(many, 2000, 'v')
    await deleting(async () => {
      const userIds = Array.from({ length: 400 }, (_, index) => `u${index + 1}`)
      const { data } = await tenant.client.users.delete({ organizationId, userIds })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(300)
    })
    const { rows } = await sql<{ type: string; removed: number; count: number }>`
      select resource_type as type, case when expires_at = 0 then 1 else 0 end as removed, count(*) as count
      from grants where api_key = ${tenant.apiKey} and organization_id = ${organizationId}
      group by 1, 2 order by 1, 2`.execute(server.database.read)
    // Users who were not members keep their grants inside the organization.
    expect(rows).toEqual([
      { type: 'document', removed: 0, count: many / 4 },
      { type: 'inside', removed: 1, count: 300 },
      { type: 'organization', removed: 1, count: 400 },
    ])
  })

  test('[13.3] [8.4.1] [S1] [S2] removing all members of a large group runs in short steps and names every member', async () => {
    const { tenant, fill } = await tenantWith(server)
    const groupId = 'g'
    const organizationUserGroups = [{ groupId, groupName: 'G' }]
    await tenant.client.userGroups.add({ organizationId, organizationUserGroups })
    await fill.groupMembers(many, groupId)
    await deleting(async () => {
      const input = { organizationId, organizationUserGroupId: groupId, deleteAll: true }
      const { data } = await tenant.client.userGroups.deleteUsers(input)
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(many)
    })
    expect(await leftOf(server, tenant)).toEqual({ organizations: 1, user_groups: 1 })
  })

  test('[18.4.2] [8.4.1] [S1] [S2] deleting the notifications of a document runs in short steps and names every notification', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(2)
    await fill.notifications(many, 2)
    await fill.recipients(2 * many, many)
    await deleting(async () => {
      const { data } = await tenant.client.notifications.delete({ organizationId, documentId: 'd1' })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(many / 2)
    })
    expect(await leftOf(server, tenant)).toEqual({
      organizations: 1,
      documents: 2,
      notifications: many / 2,
      notification_recipients: many,
    })
  })

  test('[8.4.3] reads that begin during the deletion of an organization see nothing, and those before everything', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(veryMany)
    const seen: number[] = []
    let isRunning = true
    const reader = (async () => {
      while (isRunning) {
        try {
          const { data } = await tenant.client.documents.get({ organizationId, pageSize: 1000 })
          seen.push(data.length)
        } catch (error) {
          // On a slow machine the deletion takes longer than a read waits.
          expect(error).toMatchObject({ status: 'ABORTED' })
        }
      }
    })()
    await eventually(() => seen.length).toBeGreaterThan(2)
    await tenant.client.organizations.delete({ organizationIds: [organizationId] })
    const after = seen.length
    await eventually(() => seen.length).toBeGreaterThan(after + 2)
    isRunning = false
    await reader
    // The list that was being read when the deletion began may lack entries.
    const partly = seen.filter((count) => count > 0 && count < 1000)
    expect(partly.length).toBeLessThanOrEqual(1)
    expect([seen[0], seen.at(-1)]).toEqual([1000, 0])
    expect(seen.toSorted((a, b) => b - a)).toEqual(seen)
  })

  test('[8.4.4] an organization added again during its deletion contains only new data', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(veryMany)
    const deleted = tenant.client.organizations.delete({ organizationIds: [organizationId] })
    await waitUntilBegun(server, tenant)
    const added = await tenant.client.documents.add({
      organizationId,
      createOrganization: true,
      documents: [{ documentId: 'd1' }],
    })
    expect(added.data.d1?.success).toBe(true)
    expect((await deleted).data[organizationId]?.success).toBe(true)
    expect(await leftOf(server, tenant)).toEqual({ organizations: 1, documents: 1 })
  })

  test('[8.4.4] [I1] a delete with a repeated Idempotency-Key returns the first response and keeps newer data', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(many / 2)
    const idempotencyKey = `delete-on-${store}`
    const remove = () =>
      tenant.client.organizations.delete({ organizationIds: [organizationId] }, { idempotencyKey })
    const first = await remove()
    await given.organization(tenant, organizationId)
    await fill.documents(many / 2)
    expect(await remove()).toEqual(first)
    expect(await leftOf(server, tenant)).toEqual({ organizations: 1, documents: many / 2 })
  })

  test('[8.4.3] two concurrent deletes of one organization both get a response, and one reports that it did not exist', async () => {
    const { tenant, fill } = await tenantWith(server)
    await fill.documents(many / 2)
    const remove = () => tenant.client.organizations.delete({ organizationIds: [organizationId] })
    const answers = await Promise.all([remove(), remove()])
    const successes = answers.map(({ data }) => data[organizationId]?.success)
    expect(successes.toSorted()).toEqual([false, true])
    expect(await leftOf(server, tenant)).toEqual({})
    expect(await deletionsOf(server, tenant)).toBe(0)
  })

  test('[9.4] [8.4.5] other documents of the organization stay usable while a folder is being deleted', async () => {
    const { tenant, fill } = await tenantWith(server)
    await tenant.client.folders.add({ organizationId, folders: [{ folderId: 'top' }] })
    await fill.documents(veryMany, { folderId: 'top' })
    await fill.documents(1, { prefix: 'other' })
    let isDeleted = false
    const deleted = tenant.client.folders.delete({ organizationId, folderId: 'top' }).then(() => {
      isDeleted = true
    })
    await waitUntilBegun(server, tenant)
    const other = { organizationId, documentId: 'other1', editorId: 'e' }
    await tenant.client.crdt.add({ ...other, type: 'text', data: 'Hello' })
    expect((await tenant.client.crdt.get(other)).data[0]?.data).toBe('Hello')
    expect(isDeleted).toBe(false)
    await deleted
    expect((await tenant.client.documents.get({ organizationId })).data.map(({ id }) => id)).toEqual([
      'other1',
    ])
  })

  test('[8.4.2] [8.4.3] [R9] a deletion closes open documents when it begins, and closes documents opened during it when it ends', async () => {
    const { tenant, fill } = await tenantWith(server)
    const resources = [{ type: 'organization' as const, id: organizationId }]
    const token = await tokenFor(tenant, 'ada', { resources })
    const ada = yjsClient(server, token, { name: `${organizationId}/d1/note` })
    await synced(ada)
    ada.text.insert(0, 'old')
    await eventually(async () => (await leftOf(server, tenant)).editors).toBe(1)
    await fill.documents(veryMany, { prefix: 'x' })
    const watcher = await RealtimeSocket.connect(server, token)
    await watcher.open('d1', { organizationId })

    let isDeleted = false
    const deleted = tenant.client.organizations.delete({ organizationIds: [organizationId] }).then(() => {
      isDeleted = true
    })
    expect(await watcher.take('closed', { ref: 1 })).toMatchObject({ code: 4404 })
    expect(isDeleted).toBe(false)
    watcher.send({ type: 'open', ref: 2, organizationId, documentId: 'x1', topics: [] })
    expect(await watcher.take('closed', { ref: 2 })).toMatchObject({ code: 4404 })
    await deleted
    expect(await leftOf(server, tenant)).toEqual({})
    await watcher.open('x1', { organizationId, ref: 3 })
    expect(await leftOf(server, tenant)).toEqual({ organizations: 1, documents: 1 })
  })
})

describe.each(stores)('an interrupted deletion on %s', (store) => {
  const waitUntilGone = async (server: TestServer, tenant: given.Tenant) => {
    await expect.poll(() => deletionsOf(server, tenant), { timeout: 30_000 }).toBe(0)
    expect(await leftOf(server, tenant)).toEqual({})
  }

  test('[8.4.6] a server that stops during a deletion answers UNAVAILABLE and resumes it at its next start', async () => {
    // On PostgreSQL it looks for abandoned deletions every 5 s.
    const first = await startServer(store, { clockSpeed: store === 'postgres' ? 20 : 1 })
    const { tenant, fill } = await tenantWith(first)
    await fill.documents(veryMany)
    const deleted = tenant.client.organizations.delete({ organizationIds: [organizationId] })
    const outcome = deleted.then(
      () => 'deleted',
      (error: { status: string }) => error.status,
    )
    await waitUntilBegun(first, tenant)
    const second = await first.restart()
    onTestFinished(() => second.stop())
    expect(await outcome).toBe('UNAVAILABLE')
    const same = { ...tenant, client: second.client(tenant) }
    if (store === 'postgres') second.clock.offsetMs = 31_000
    // A call waits for the deletion and finds nothing. On PostgreSQL the first server may still hold the lease.
    if (store === 'sqlite') {
      expect((await same.client.documents.get({ organizationId })).data).toEqual([])
    }
    await waitUntilGone(second, same)
  })
})

test('[8.4.6] [8.4.3] on PostgreSQL another server resumes an interrupted deletion', async () => {
  const databaseUrl = await createPostgresDatabase()
  const data = { dataDir: '/tmp/plenum-unused', databaseUrl }
  const [one, other] = await Promise.all([
    startServer('postgres', { data }),
    // It looks for abandoned deletions every 5 s.
    startServer('postgres', { data, clockSpeed: 20 }),
  ])
  onTestFinished(() => other.stop())
  const { tenant, fill } = await tenantWith(one)
  await fill.documents(veryMany)
  const deleted = tenant.client.organizations.delete({ organizationIds: [organizationId] }).catch(() => {})
  await waitUntilBegun(one, tenant)
  // While the first server deletes, calls at the second server wait.
  const there = { ...tenant, client: other.client(tenant) }
  const reading = there.client.documents.get({ organizationId, pageSize: 1000 }).then(
    ({ data }) => data.length,
    (error: { status: string }) => error.status,
  )
  await one.stop()
  await deleted
  other.clock.offsetMs = 31_000
  await expect.poll(() => deletionsOf(other, there), { timeout: 30_000 }).toBe(0)
  expect(await leftOf(other, there)).toEqual({})
  expect([0, 'ABORTED']).toContain(await reading)
})
