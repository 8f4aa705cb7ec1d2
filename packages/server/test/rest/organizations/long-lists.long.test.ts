import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'

const organizationId = 'o1'

describe.each(stores)('long lists on %s', (store) => {
  const server = useServer(store)

  async function tenantWith(documents: number) {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    await seed(server.database, tenant.apiKey, organizationId).documents(documents)
    return tenant
  }

  test('[0.5.1] v1 returns the first 10,000 rows of a longer list', async () => {
    const { client } = await tenantWith(10_001)
    const { data, nextPageToken } = await client.documents.get({ organizationId }, { version: 'v1' })
    expect(data).toHaveLength(10_000)
    expect(data.at(-1)?.id).toBe('d10000')
    expect(nextPageToken).toBeUndefined()
  })

  test.runIf(store === anyStore)(
    '[0.5.2] a list of more than 64 MiB is refused with an error that names pageSize, and can be read in pages',
    async () => {
      const { client, apiKey } = await tenantWith(4_500)
      const data = JSON.stringify({ x: 'x'.repeat(16_000) })
      await server.database.write((db) =>
        db.updateTable('documents').set({ data }).where('api_key', '=', apiKey).execute(),
      )
      await expect(client.documents.get({ organizationId }, { version: 'v1' })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message:
          'The answer would have more than 64 MiB. Read it in parts with a smaller pageSize, under v2.',
      })
      const page = await client.documents.get({ organizationId, pageSize: 1000 })
      expect(page.data).toHaveLength(1000)
      expect(page.nextPageToken).toBeDefined()
    },
  )
})
