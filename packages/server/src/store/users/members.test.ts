import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { useServer } from '../../../test/support/harness.ts'
import { organizationLevel } from '../access/grants.ts'
import * as organizations from '../organizations.ts'
import * as members from './members.ts'

const organizationId = 'org_1'

describe('members who join and leave at the same time, on PostgreSQL', () => {
  const server = useServer('postgres', { isOwn: true })

  test('[12.4] a user who leaves one organization while joining another keeps the profile', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Ada' }] })
    let attempts = 0
    await server.database.write(async (db) => {
      await organizations.findMany(db, apiKey, [organizationId])
      // The transaction reads what was stored before this call.
      if (++attempts === 1) await client.users.add({ organizationId: 'org_2', users: [{ userId: 'u1' }] })
      await members.remove(db, apiKey, organizationLevel(organizationId), ['u1'], Date.now())
    })
    const { data } = await client.users.get({ organizationId: 'org_2' })
    expect(data).toMatchObject([{ userId: 'u1', name: 'Ada' }])
    expect(attempts).toBe(2)
  })
})
