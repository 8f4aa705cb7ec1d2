import { describe, expect, test } from 'vitest'
import { endingIn, refusalTextsOf } from '../../support/access/probe.ts'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { type EditorTarget, type RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient, sendsRole } from '../../support/clients/raw-clients.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { wordUpdate } from '../../support/random/words.ts'
const reason =
  'The origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.'
const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

const allowed = [
  'http://localhost',
  'http://localhost:3000',
  'https://127.0.0.1:8443',
  'https://example.com',
  'https://www.example.com',
  'https://EXAMPLE.com:8080',
  'https://a.example.org',
  'https://a.b.c.example.org:444',
]
const others = [
  'https://example.net',
  'https://sub.example.com',
  'https://example.com.evil.test',
  'https://evilexample.com',
  'https://example.org',
  'https://aexample.org',
  'https://localhost.evil.test',
  'https://example.com@evil.test',
  'file://',
  'null',
  '',
]

describe('the origins of connecting pages', () => {
  const server = useServer(anyStore)

  /** Opens one client for each origin and dialect, each with its own editor. */
  const connect = (origins: readonly (string | undefined)[], by: Pick<EditorTarget, 'token' | 'headers'>) =>
    dialects.flatMap((dialect) =>
      origins.map((origin, index) => {
        const headers = { ...by.headers, ...(origin !== undefined && { origin }) }
        const target = { ...documentRef, editorId: `${dialect}-${index}`, ...by, headers }
        return { name: `${dialect} from ${origin}`, dialect, client: rawClient(server, dialect, target) }
      }),
    )

  const outcomesOf = async (clients: ReturnType<typeof connect>) => {
    const found = await Promise.all(
      clients.map(async ({ name, client }): Promise<[string, unknown]> => {
        const written = client.update(wordUpdate('word'))
        return [name, [await client.opened(), await written]]
      }),
    )
    return Object.fromEntries(found)
  }
  const each = <T>(clients: ReturnType<typeof connect>, value: (dialect: Dialect, client: RawClient) => T) =>
    Object.fromEntries(clients.map(({ name, dialect, client }) => [name, value(dialect, client)]))

  const tenantWithDomains = async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await tenant.client.domains.add({ domains: ['example.com', '*.example.org'] })
    return tenant
  }
  const storedIn = async ({ client }: given.Tenant) =>
    (await client.crdt.get(documentRef).catch(() => ({ data: [] }))).data.length

  test('[R5.3] a page of an allowed domain and a client without an origin can connect', async () => {
    const tenant = await tenantWithDomains()
    const token = await tokenFor(tenant)
    for (const by of [{ token }, { headers: tenant.headers }]) {
      const clients = connect([...allowed, undefined], by)
      expect(await outcomesOf(clients)).toEqual(
        each(clients, (dialect) => [sendsRole(dialect) ? { role: 'editor' } : {}, 'saved']),
      )
    }
  })

  test('[R5.3] a page of a domain that is not allowed cannot connect, even with a valid token', async () => {
    const tenant = await tenantWithDomains()
    const clients = connect(others, { token: await tokenFor(tenant) })
    expect(await outcomesOf(clients)).toEqual(
      each(clients, (dialect) => [endingIn(dialect, 4403, reason), 'refused']),
    )
    expect(each(clients, (_, { refusalTexts }) => refusalTexts)).toEqual(
      each(clients, (dialect) => refusalTextsOf(dialect, reason, false)),
    )
    expect(await storedIn(tenant)).toBe(0)
  })

  test('[R5.3] a page of a domain that is not allowed cannot connect with backend credentials', async () => {
    const tenant = await tenantWithDomains()
    const clients = connect(others, { headers: tenant.headers })
    expect(await outcomesOf(clients)).toEqual(each(clients, () => [{ code: 4403, reason }, 'refused']))
    expect(await storedIn(tenant)).toBe(0)
  })

  test('[R5.3] a page of a foreign domain that resolves to the server is not a page of the server', async () => {
    const tenant = await given.tenant(server)
    const origin = 'http://rebound.test:4000'
    const clients = connect([origin], {
      token: await tokenFor(tenant),
      headers: { host: 'rebound.test:4000' },
    })
    expect(await outcomesOf(clients)).toEqual(
      each(clients, (dialect) => [endingIn(dialect, 4403, reason), 'refused']),
    )
  })

  test('[R9.3] removing a domain closes the connections of its pages and keeps other connections open', async () => {
    const tenant = await tenantWithDomains()
    const token = await tokenFor(tenant)
    const removed = connect(['https://example.com'], { token })
    const kept = connect(['https://a.example.org', undefined], { token })
    // This connection has no document open.
    const idle = new RealtimeSocket(server, {
      query: `?token=${token}`,
      headers: { origin: 'https://example.com' },
    })
    await idle.take('ready')
    await Promise.all([...removed, ...kept].map(({ client }) => client.opened()))
    await tenant.client.domains.delete({ domains: ['example.com'] })
    for (const { closed } of [idle, ...removed.map(({ client }) => client)]) {
      expect(await closed).toMatchObject({ code: 4403 })
    }
    for (const { client } of kept) expect(await client.update(wordUpdate('still here'))).toBe('saved')
  })

  test('[R9.3] adding the first domain to the list closes the connections of pages of other domains', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await tenant.client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    const token = await tokenFor(tenant)
    const clients = connect(['https://anywhere.test'], { token })
    await Promise.all(clients.map(({ client }) => client.opened()))
    await tenant.client.domains.add({ domains: ['example.com'] })
    for (const { client } of clients) expect(await client.closed).toMatchObject({ code: 4403 })
  })

  test('[R5.3] [2.0.1] a change of the domain list applies to the next connection, and an empty list allows every origin', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const token = await tokenFor(tenant)
    const openedCount = async () => {
      const clients = connect(['https://a.dev'], { token })
      const roles = await Promise.all(clients.map(({ client }) => client.opened()))
      return roles.filter((one) => !('reason' in one)).length
    }
    expect(await openedCount()).toBe(0)
    await tenant.client.domains.add({ domains: ['a.dev'] })
    expect(await openedCount()).toBe(dialects.length)
    await tenant.client.domains.delete({ domains: ['a.dev'] })
    expect(await openedCount()).toBe(0)
    await tenant.client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    expect(await openedCount()).toBe(dialects.length)
  })
})
