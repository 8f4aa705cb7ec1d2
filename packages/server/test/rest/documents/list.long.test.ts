import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'

const organizationId = 'o'.repeat(256)

describe.each(stores)('documents.list with very many documents on %s', (store) => {
  const server = useServer(store)

  test('[10.10.1] [S2] users with access to few of 100,000 documents read them in short steps, 2,000 to a page', async () => {
    const tenant = await given.tenant(server)
    const { client, apiKey } = tenant
    await given.organization(tenant, organizationId)
    await client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' })
    const prefix = 'd'.repeat(250)
    await seed(server.database, apiKey, organizationId).documents(100_000, { prefix })
    const ids = [1, 50_000, 100_000].map((number) => `${prefix}${number}`)
    const resources = ids.map((id) => ({ type: 'document' as const, id, organizationId }))
    await client.permissions.add({ userId: 'ada', permissions: { resources } })
    const found: string[] = []
    let pages = 0
    let pageToken: string | undefined
    await expectShortIterations(async () => {
      do {
        const page: { data: { documentId: string }[]; nextPageToken?: string } = await client.documents.list({
          organizationId,
          userId: 'ada',
          ...(pageToken !== undefined && { pageToken }),
        })
        pages++
        found.push(...page.data.map(({ documentId }) => documentId))
        pageToken = page.nextPageToken
      } while (pageToken !== undefined)
    })
    expect(found).toEqual(ids.toReversed())
    expect(pages).toBe(51)
  })
})
