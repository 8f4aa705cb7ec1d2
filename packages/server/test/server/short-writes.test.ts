import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { withPostgres } from '../support/faults/postgres-faults.ts'

const numbers = Array.from({ length: 40 }, (_, n) => n)
const namesOf = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status)

describe.each(stores)('short writes on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[P2.1] requests that change the same user at the same time all take effect', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    await client.users.add({ organizationId, users: [{ userId: 'u1', name: 'Ada' }] })
    await Promise.all(
      numbers.map((n) =>
        client.users.update({ organizationId, users: [{ userId: 'u1', [`field${n}`]: n }] }),
      ),
    )
    const { data } = await client.users.get({ organizationId })
    expect(data).toMatchObject([Object.fromEntries(numbers.map((n) => [`field${n}`, n]))])
  })

  test('[P2.1] requests that merge into the same live state at the same time all take effect', async () => {
    const { client } = await given.tenant(server)
    const state = { organizationId: 'o1', documentId: 'd1', liveStateDataId: 'slide' }
    await Promise.all(
      numbers.map((n) => client.liveState.broadcast({ ...state, data: { [`key${n}`]: n }, merge: true })),
    )
    const { data } = await client.liveState.broadcast({ ...state, data: {}, merge: true })
    expect(data).toEqual({ success: true })
    const row = await server.database.read
      .selectFrom('live_states')
      .select('data')
      .where('document_id', '=', 'd1')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(row.data)).toEqual(Object.fromEntries(numbers.map((n) => [`key${n}`, n])))
  })

  test('[P2.1] [22.1] a profile that would be too large is refused, and requests that arrive with it are stored', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    await client.users.add({ organizationId, users: [{ userId: 'u1', text: 'x'.repeat(12_000) }] })
    const update = (fields: object) =>
      client.users.update({ organizationId, users: [{ userId: 'u1', ...fields }] })
    const results = await Promise.allSettled([
      update({ first: 1 }),
      update({ more: 'x'.repeat(15_000) }),
      update({ last: 1 }),
    ])
    expect(namesOf(results)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { status: 'INVALID_ARGUMENT' } })
    const { data } = await client.users.get({ organizationId })
    expect(data).toMatchObject([{ first: 1, last: 1 }])
    expect(data).not.toMatchObject([{ more: expect.anything() }])
  })

  test('[P2.1] an update that names two levels is refused, and requests that arrive with it are stored', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    const users = [{ userId: 'u1', name: 'before' }]
    await client.users.add({ organizationId, users })
    const both = { documentId: 'd1', folderId: 'f1' }
    const results = await Promise.allSettled([
      client.users.update({ organizationId, ...both, users }),
      client.users.update({ organizationId, users: [{ userId: 'u1', name: 'after' }] }),
    ])
    expect(namesOf(results)).toEqual(['rejected', 'fulfilled'])
    expect((await client.users.get({ organizationId })).data).toMatchObject([{ name: 'after' }])
  })

  test('[P13] writes of different API keys that share a transaction change only their own data', async () => {
    const tenants = await Promise.all(numbers.slice(0, 8).map(() => given.tenant(server)))
    await Promise.all(
      tenants.map(({ client }) => client.users.add({ organizationId: 'o1', users: [{ userId: 'u1' }] })),
    )
    await Promise.all(
      tenants.flatMap(({ client }, n) => [
        client.users.update({ organizationId: 'o1', users: [{ userId: 'u1', name: `Ada ${n}` }] }),
        client.liveState.broadcast({
          organizationId: 'o1',
          documentId: `d${n}`,
          liveStateDataId: 's',
          data: { n },
        }),
      ]),
    )
    for (const [n, { client }] of tenants.entries()) {
      const { data } = await client.users.get({ organizationId: 'o1' })
      expect(data).toMatchObject([{ userId: 'u1', name: `Ada ${n}` }])
      const documents = await client.documents.get({ organizationId: 'o1' })
      expect(documents.data).toMatchObject([{ id: `d${n}` }])
    }
  })
})

describe('short writes on PostgreSQL', () => {
  test('[P2.1] [O2.5] a write that waits for a locked row does not delay those that arrived with it', async () => {
    const { tenant, block, blocked } = await withPostgres()
    const { client } = tenant
    const users = ['u1', 'u2'].map((userId) => ({ userId, name: 'before' }))
    await client.users.add({ organizationId: 'o1', users })
    const release = await block(`update users set email = 'x' where user_id = 'u1'`)
    const update = (userId: string) =>
      client.users.update({ organizationId: 'o1', users: [{ userId, name: 'after' }] })
    let isFirstStored = false
    const first = update('u1').then(() => (isFirstStored = true))
    const broadcast = client.liveState.broadcast({
      organizationId: 'o1',
      documentId: 'd1',
      liveStateDataId: 's',
      data: {},
    })
    await Promise.all([update('u2'), broadcast])
    expect(isFirstStored).toBe(false)
    await expect.poll(blocked).not.toEqual([])
    await release()
    await first
  })
})
