import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@plenum/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/engine/open.ts'
import { seed } from '../support/large-data.ts'
import { buildServer, startProcess } from '../support/processes/process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-killed-'))
beforeAll(buildServer)
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Runs the work on the data folder while no server runs. */
async function onDisk<T>(
  work: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ dataDir, durability: 'full', poolSize: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Creates a tenant and returns its credentials. */
async function newTenant(env: Record<string, string>) {
  const server = await startProcess('server', env)
  const { data } = await createClient({ url: server.url }).workspace.create({ ownerEmail: 'o@example.com' })
  const [apiKey] = Object.keys(data.apiKeyList) as [string]
  const workspace = { workspaceId: data.id, workspaceAuthToken: data.authToken }
  const tokens = await createClient({ url: server.url, ...workspace }).authTokens.get({ apiKey })
  await server.terminate()
  return { apiKey, authToken: tokens.data.authTokens[0]?.token ?? '', retries: 0 }
}

test('[8.4.6] [8.4.3] [P1] if a server is killed while it deletes an organization, the next one hides the remaining documents and finishes the deletion', async () => {
  const env = { DATA_DIR: dataDir }
  const credentials = await newTenant(env)
  const { apiKey } = credentials

  const documents = 30_000
  const countAll = () =>
    onDisk(async ({ read }) => {
      const { count } = await read
        .selectFrom('documents')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      const begun = await read.selectFrom('deletions').select('deletion_id').execute()
      return { count, isBegun: begun.length > 0 }
    })

  let inTheMiddle = 0
  // How far the deletion gets before the kill is random; every round kills the server later.
  for (let round = 0; inTheMiddle < 1 && round < 40; round++) {
    const organizationId = `o${round}`
    const server = await startProcess('server', env)
    await createClient({ url: server.url, ...credentials }).organizations.add({
      organizations: [{ organizationId }],
    })
    await server.terminate()
    await onDisk((database) => seed(database, apiKey, organizationId).documents(documents))

    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    const deleted = client.organizations.delete({ organizationIds: [organizationId] }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20 + 40 * round))
    await victim.kill()
    await deleted
    const { count, isBegun } = await countAll()
    if (count > 0 && count < documents) inTheMiddle++
    expect(isBegun || count === documents || count === 0).toBe(true)

    const next = await startProcess('server', env)
    const reader = createClient({ url: next.url, ...credentials })
    const page = await reader.documents.get({ organizationId, pageSize: 1000 })
    expect(page.data).toHaveLength(isBegun || count === 0 ? 0 : 1000)
    if (!isBegun) await reader.organizations.delete({ organizationIds: [organizationId] })
    const found = await reader.organizations.get({ organizationIds: [organizationId] })
    expect(found.data).toEqual([])
    await next.terminate()
    expect(await countAll()).toEqual({ count: 0, isBegun: false })
  }
  expect(inTheMiddle).toBeGreaterThan(0)
})

test('[18.1.3] [P1] if a server is killed while it writes the recipients of a notification, the notification is never shown and leaves no rows', async () => {
  const env = { DATA_DIR: dataDir }
  const credentials = await newTenant(env)
  const organizationId = 'members'
  const place = { organizationId, documentId: 'd' }
  await onDisk((database) => seed(database, credentials.apiKey, organizationId).members(40_000))
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
  // The first transaction creates the document.
  await expect
    .poll(async () => (await client.documents.get({ organizationId })).data.length, { interval: 1 })
    .toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await victim.kill()
  await added
  expect(isAnswered).toBe(false)
  expect(await rowsLeft()).toBeGreaterThan(100)

  // A server that stops leaves the rest to the next one.
  for (let left = 1; left > 0; left = await rowsLeft()) {
    const next = await startProcess('server', env)
    const reader = createClient({ url: next.url, ...credentials })
    expect((await reader.notifications.get(place)).data).toEqual([])
    await next.terminate()
  }
})

test('[10.8.1] [10.9] [P1] if a server is killed during a migration, no grant is lost, and the next server finishes the migration', async () => {
  const env = { DATA_DIR: dataDir }
  const credentials = await newTenant(env)
  const organizationId = 'migrated'
  const users = 30_000
  const first = await startProcess('server', env)
  await createClient({ url: first.url, ...credentials }).organizations.add({
    organizations: [{ organizationId }],
  })
  await first.terminate()
  await onDisk(async (database) => {
    const fill = seed(database, credentials.apiKey, organizationId)
    await fill.documents(1)
    await fill.usersOf('d1', users)
  })
  const grantsOn = (documentId: string) =>
    onDisk(async ({ read }) => {
      const all = read.selectFrom('grants').select((eb) => eb.fn.countAll<number>().as('count'))
      return (await all.where('resource_id', '=', documentId).executeTakeFirstOrThrow()).count
    })

  let inTheMiddle = 0
  let documentId = 'd1'
  for (let round = 0; inTheMiddle < 1 && round < 20; round++) {
    const newDocumentId = `d${round + 2}`
    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    await client.documents.migrate({ organizationId, documentId, newDocumentId })
    await new Promise((resolve) => setTimeout(resolve, 100 + 50 * round))
    await victim.kill()
    const moved = await grantsOn(newDocumentId)
    expect(moved + (await grantsOn(documentId))).toBe(users)
    if (moved > 0 && moved < users) inTheMiddle++

    const next = await startProcess('server', env)
    const reader = createClient({ url: next.url, ...credentials })
    const documents = async () => (await reader.documents.get({ organizationId })).data.map(({ id }) => id)
    await expect.poll(documents).toEqual([newDocumentId])
    const userIds = ['u1', `u${users}`]
    expect(
      (await reader.users.get({ organizationId, documentId: newDocumentId, userIds })).data,
    ).toHaveLength(2)
    await next.terminate()
    expect(await grantsOn(newDocumentId)).toBe(users)
    documentId = newDocumentId
  }
  expect(inTheMiddle).toBeGreaterThan(0)
})
