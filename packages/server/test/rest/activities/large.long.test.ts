import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { runInShortSteps } from '../../support/measures/other-tenant.ts'
import { activity, add, idsOf, organizationId, setImmutable, tenantWithLog } from './calls.ts'

/** Nearly the maximum: an activity has at most 16 KiB. */
const largeBytes = 16_000

describe.each(stores)('many activities on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  /** More than one transaction may read or remove (`runInShortSteps`). */
  const many = store === 'sqlite' ? 2600 : 4100

  async function scene(count: number, shape: { isImmutable?: boolean; bytes?: number } = {}) {
    const tenant = await tenantWithLog(server)
    await add(tenant, [{ id: 'rare', actionType: 'rare', targetEntityId: 'rare' }], { documentId: 'd1' })
    await seed(server.database, tenant.apiKey, organizationId).activities(count, shape)
    const left = async () => {
      const { rows } = await sql<{ document_id: string; count: number | string }>`
        select document_id, count(*) as count from activities where api_key = ${tenant.apiKey}
        group by document_id order by document_id`.execute(server.database.read)
      return Object.fromEntries(rows.map((row) => [row.document_id, Number(row.count)]))
    }
    return { tenant, client: tenant.client, left }
  }

  test('[21.2] [21.2.1] [S2] filters that match few or no activities of a long log run in short steps', async () => {
    const { tenant } = await scene(many)
    for (const [filter, found] of [
      [{ documentId: 'd1', actionTypes: ['unknown'] }, []],
      [{ documentId: 'd1', featureTypes: ['crdt'] }, []],
      [{ documentId: 'd1', actionTypes: ['rare'], order: 'asc' }, ['rare']],
      [{ actionTypes: ['unknown'] }, []],
      [{ userId: 'u', actionTypes: ['unknown'], order: 'asc' }, []],
      [{ targetEntityId: 'e', userId: 'ada' }, []],
    ] as const) {
      await expectShortIterations(async () => {
        const ids = await idsOf(tenant, { ...filter } as Parameters<typeof idsOf>[1])
        expect(ids).toEqual(found)
      })
    }
  })

  test('[21.1] [21.2] [21.3] [21.4] [S2] calls with many large activities run in short steps', async () => {
    const { tenant, client } = await scene(150, { bytes: largeBytes })
    const numbered = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
    const activityIds = numbered('a', 120)
    const calls = {
      get: () => client.activities.get({ organizationId }),
      update: () =>
        client.activities.update({
          organizationId,
          activities: activityIds.map((id) => ({ id, actionIcon: 'i' })),
        }),
      add: () =>
        add(
          tenant,
          numbered('new', 300).map((id) => activity({ id, entityData: 'x'.repeat(1800) })),
        ),
    }
    for (const call of Object.values(calls)) await expectShortIterations(call)
    // SQLite walks over the pages of each large row that it deletes.
    await expectShortIterations(() => client.activities.delete({ organizationId, activityIds }), {
      changes: 100,
    })
    expect(await idsOf(tenant, { activityIds: ['a1', 'a121'] })).toEqual(['a121'])
  })

  test('[21.4.2] [8.4.1] [S1] [S2] deleting the activities of a document runs in short steps and names every activity', async () => {
    const { client, left } = await scene(many)
    await runInShortSteps(server, async () => {
      const { data } = await client.activities.delete({
        organizationId,
        documentId: 'd1',
        targetEntityId: 'e',
      })
      expect(Object.values(data).filter(({ success }) => success)).toHaveLength(many)
    })
    expect(await left()).toEqual({ d1: 1 })
  })

  test('[21.4.1] [10.4.1] [S1] [S2] immutable activities do not slow down deletions that leave them', async () => {
    const { client, left } = await scene(many, { isImmutable: true })
    // On PostgreSQL one transaction looks at 2,000 activities.
    await runInShortSteps(
      server,
      async () => {
        const { data } = await client.activities.delete({ organizationId, documentId: 'd1' })
        expect(Object.keys(data)).toEqual(['rare'])
      },
      2,
    )
    await expectShortIterations(() => client.documents.delete({ organizationId, documentIds: ['d1'] }))
    expect(await left()).toEqual({ d1: many })
  })

  test('[10.4] [10.4.1] [8.4] [8.4.1] [S1] [S2] deleting a document or an organization with many activities runs in short steps', async () => {
    for (const remove of ['document', 'organization']) {
      const { tenant, client, left } = await scene(many)
      await setImmutable(tenant, true)
      await add(tenant, [{ id: 'fixed' }], { documentId: 'd1' })
      await runInShortSteps(server, () =>
        remove === 'document'
          ? client.documents.delete({ organizationId, documentIds: ['d1'] })
          : client.organizations.delete({ organizationIds: [organizationId] }),
      )
      expect(await left()).toEqual(remove === 'document' ? { d1: 1 } : {})
    }
  })

  test('[10.4] [8.4] [S2] deleting a document or an organization with 150 large activities does not hold the event loop', async () => {
    for (const remove of ['document', 'organization']) {
      const { client, left } = await scene(150, { bytes: largeBytes })
      await expectShortIterations(
        () =>
          remove === 'document'
            ? client.documents.delete({ organizationId, documentIds: ['d1'] })
            : client.organizations.delete({ organizationIds: [organizationId] }),
        // SQLite walks over the pages of each large row that it deletes.
        { changes: 100 },
      )
      expect(await left()).toEqual({})
    }
  })

  test('[10.8] [10.8.1] [S1] [S2] a document with many immutable activities moves in short steps', async () => {
    const { client, left } = await scene(many, { isImmutable: true })
    await runInShortSteps(server, async () => {
      const input = { organizationId, documentId: 'd1', newDocumentId: 'd2' }
      const { migrationId } = (await client.documents.migrate(input)).data
      const status = async () =>
        (await client.documents.migrateStatus({ organizationId, migrationId })).data.status
      await expect.poll(status, { timeout: 60_000 }).toBe('completed')
    })
    expect(await left()).toEqual({ d2: many + 1 })
  })
})
