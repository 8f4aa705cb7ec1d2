import { describe, expect, test } from 'vitest'
import { heldDuring } from './event-loop.ts'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'
import { seed } from './large-data.ts'

const organizationId = 'big'
/** S2. */
const promisedMs = 50

describe.each(stores)('large changes on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    return { tenant, fill: seed(server.database, tenant.apiKey, organizationId) }
  }

  test('[10.8] [S2] a document with much of everything moves to another id in short statements', async () => {
    const { tenant, fill } = await scene()
    await fill.documents(1)
    await fill.notifications(20_000, 1)
    await fill.editors(1000, 1)
    for (let editor = 1; editor <= 5; editor++) await fill.updates(200, editor, 1, 5000)
    await fill.documentGrants(1, 1)
    const { client } = tenant
    const held = await heldDuring(async () => {
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
    expect(held).toBeLessThan(promisedMs)
    const { read } = server.database
    for (const [table, count] of [
      ['notifications', 20_000],
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
})
