import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import * as organizations from '../organizations.ts'
import * as users from '../users/users.ts'

describe.each(stores)('reads at the same time on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[P2.2] reads that find nothing, one row and several rows do not mix their rows', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }, { organizationId: 'o2' }] })
    const asked = [
      ['o1', 'none'],
      ['none', 'nobody'],
      ['o2', 'o1'],
      ['o2', 'none'],
    ]
    const found = await Promise.all(
      asked.map((ids) => organizations.findMany(server.database.read, apiKey, ids)),
    )
    expect(found.map((some) => some.map(({ id }) => id))).toEqual([['o1'], [], ['o1', 'o2'], ['o2']])
    expect(found[0]?.[0]).not.toHaveProperty('read')
  })
})

describe('reads at the same time on PostgreSQL', () => {
  const server = useServer('postgres', { isOwn: true })

  test('[P2.2] a value that PostgreSQL refuses fails its own read only', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.users.add({ organizationId: 'o1', users: [{ userId: 'u1', name: 'Ada' }] })
    const ids = ['u1', 'a\0b', 'u1']
    const results = await Promise.allSettled(
      ids.map((userId) => users.findProfile(server.database.read, apiKey, userId)),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})
