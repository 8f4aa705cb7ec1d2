import { beforeAll, describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { seed } from '../../support/data/large-data.ts'
import { stores, useServer } from '../../support/harness.ts'

const depth = 31
const chains = 60
const organizationId = 'org_1'
const suffix = 'x'.repeat(240)
const folderId = (chain: number, level: number) => `f${chain}-${level}${suffix}`
const numbered = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i + 1))

describe.each(stores)('permissions of many users in deep folders on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  let tenant: given.Tenant

  beforeAll(async () => {
    tenant = await given.tenant(server)
    const { client } = tenant
    await given.organization(tenant)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.folderChains(chains, depth, suffix)
    await fill.documentsInChains(30, depth, suffix)
    const grant = { type: 'folder', id: folderId(3, 1), organizationId, accessRole: 'viewer' } as const
    await client.permissions.add({ user: { userId: 'u7' }, permissions: { resources: [grant] } })
  })

  test('[S2] three concurrent calls of Get Permissions for 30 users and 60 resources, 31 folders deep, do not block the event loop', async () => {
    const input = {
      organizationId,
      userIds: numbered(30, (i) => `u${i}`),
      documentIds: numbered(30, (i) => `d${i}`),
      folderIds: numbered(30, (i) => folderId(30 + i, depth)),
    }
    const get = () => tenant.client.permissions.get(input)
    expect((await get()).data).toMatchObject({
      u6: { documents: { d3: { accessRole: 'editor' } } },
      u7: { documents: { d2: { accessRole: 'editor' }, d3: { accessRole: 'viewer' } } },
    })
    await expectShortIterations(() => Promise.all(numbered(3, get)))
  })

  test('[S2] ten concurrent calls of Explain Permissions, with long ids and 31 folders deep, do not block the event loop', async () => {
    const token = {
      resources: numbered(
        500,
        (i) => ({ type: 'document', id: `d${i}`.padEnd(250, 'x'), organizationId }) as const,
      ),
    }
    const input = {
      organizationId,
      userId: 'u7',
      documentId: 'd3',
      assume: { folderId: folderId(4, depth), token },
    }
    const explain = () => tenant.client.permissions.explain(input)
    const { now, assumed } = (await explain()).data
    expect([now.levels.length, assumed?.levels.length]).toEqual([depth + 3, depth + 3])
    expect([now.accessRole, assumed?.accessRole]).toEqual(['viewer', 'editor'])
    // All ten answers, 120 KB each, may be complete in one iteration. The requests have 150 KB each.
    await expectShortIterations(() => Promise.all(numbered(10, explain)), { jsonBytes: 1.3 * 1024 * 1024 })
  })
})
