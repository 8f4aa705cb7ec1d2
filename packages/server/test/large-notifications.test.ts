import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { leastHeld } from './event-loop.ts'
import * as given from './given.ts'
import { stores, useServer } from './harness.ts'
import { seed, seedUsers } from './large-data.ts'

const organizationId = 'big'
/** S2. */
const promisedMs = 50

describe.each(stores)('notifications with many recipients on %s', (store) => {
  const server = useServer(store)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.organization(tenant, organizationId)
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.documents(1)
    return { tenant, fill, client: tenant.client }
  }

  test('[18.1] [S2] an address that thousands of users share reaches each of them once, however often it is named', async () => {
    const { tenant, client } = await scene()
    await seedUsers(server.database, tenant.apiKey, 4000)
    await server.database.write((db) =>
      db
        .updateTable('users')
        .set({ email: 'all@example.com' })
        .where('api_key', '=', tenant.apiKey)
        .execute(),
    )
    const email = 'All@example.com'
    const notifyUsers = [{ userId: 'u7' }, ...Array.from({ length: 499 }, () => ({ email }))]
    const add = () =>
      given.notification(tenant, { organizationId, documentId: 'd1', notificationId: 'n', notifyUsers })
    expect(await leastHeld(add)).toBeLessThan(promisedMs)
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from notification_recipients
      where api_key = ${tenant.apiKey} and email = 'all@example.com'`.execute(server.database.read)
    expect(Number(rows[0]?.count)).toBe(4000)
    const { data } = await client.notifications.get({ organizationId, userId: 'u4000' })
    expect(data.map(({ id, forYou }) => ({ id, forYou }))).toEqual([{ id: 'n', forYou: true }])
  })
})
