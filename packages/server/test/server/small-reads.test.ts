import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { startServer, stores, useServer } from '../support/harness.ts'
import { withPostgres } from '../support/faults/postgres-faults.ts'

const numbers = Array.from({ length: 150 }, (_, n) => n)

describe.each(stores)('reads at the same time on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[P2.2] [P13] each request gets the organization that it asks for, of its own API key', async () => {
    const tenants = await Promise.all([given.tenant(server), given.tenant(server)])
    for (const [t, { client }] of tenants.entries()) {
      const named = numbers.map((n) => ({ organizationId: `o${n}`, organizationName: `${t} ${n}` }))
      await client.organizations.add({ organizations: named })
    }
    const answers = await Promise.all(
      numbers.map((n) =>
        (tenants[n % 2] as given.Tenant).client.organizations.get({ organizationIds: [`o${n}`] }),
      ),
    )
    const names = answers.map(({ data }) => data.map(({ organizationName }) => organizationName))
    expect(names).toEqual(numbers.map((n) => [`${n % 2} ${n}`]))
  })
})

describe('reads at the same time on PostgreSQL', () => {
  const server = useServer('postgres', { isOwn: true })

  test('[1.7] a token that another server has reset is refused from that moment on', async () => {
    const { client, apiKey, workspaceId, workspaceAuthToken } = await given.tenant(server)
    await client.organizations.get({})
    const other = await startServer('postgres', { data: server.data })
    await other.client({ workspaceId, workspaceAuthToken }).authTokens.reset({ apiKey })
    await expect(client.organizations.get({})).rejects.toMatchObject({ status: 'UNAUTHENTICATED' })
    await other.stop()
  })

  test('[1.8] an option that another server has changed applies to the next read', async () => {
    const { client, apiKey, authToken } = await given.tenant(server)
    const read = () => client.organizations.get({})
    const other = await startServer('postgres', { data: server.data })
    const set = (useAdvancedQueries: boolean) =>
      other.client({ apiKey, authToken }).apiKeyConfig.update({ useAdvancedQueries })
    expect(await read()).toMatchObject({ data: [] })
    await set(false)
    await expect(read()).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' })
    await set(true)
    expect(await read()).toMatchObject({ data: [] })
    await other.stop()
  })

  test('[0.2] a reset token is refused also with a body that is not JSON', async () => {
    const { client, apiKey, headers } = await given.tenant(server)
    await client.organizations.get({})
    await client.authTokens.reset({ apiKey })
    const send = () =>
      fetch(`${server.url}/v2/organizations/get`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{',
      })
    expect((await send()).status).toBe(401)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test('[O1] reads continue after PostgreSQL has closed the connection that they share', async () => {
    const { tenant, terminateAll } = await withPostgres()
    const read = () => tenant.client.organizations.get({ organizationIds: ['o1'] })
    await read()
    await terminateAll()
    await expect
      .poll(() =>
        read().then(
          () => 'answered',
          () => 'failed',
        ),
      )
      .toBe('answered')
  })
})
