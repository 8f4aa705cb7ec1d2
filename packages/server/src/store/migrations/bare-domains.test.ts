import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as bareDomains from './0003-bare-domains.ts'
import * as given from '../../../test/support/given.ts'
import {
  createEmptyPostgresDatabase,
  startServer,
  stores,
  type TestServer,
  useServer,
} from '../../../test/support/harness.ts'

describe.each(stores)('migrations on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[2] the migration 0003 removes every leading www. from stored domains, so that they can be deleted', async () => {
    const tenant = await given.tenant(server)
    const other = await given.tenant(server)
    const stored = (apiKey: string, domains: string[]) =>
      domains.map((domain, index) => ({ api_key: apiKey, domain, position: 10 + index }))
    await server.database.write(async (db) => {
      await db
        .insertInto('allowed_domains')
        .values([
          ...stored(tenant.apiKey, ['www.a.dev', 'a.dev', 'www.www.b.dev', 'www.b.dev', 'www.www.c.dev']),
          ...stored(other.apiKey, ['www.a.dev', '*.www.d.dev', 'www']),
        ])
        .execute()
      await bareDomains.up(db as unknown as Kysely<unknown>)
    })
    const local = ['localhost', '127.0.0.1']
    expect((await other.client.domains.get()).data.allowedDomains).toEqual([
      ...local,
      'a.dev',
      '*.www.d.dev',
      'www',
    ])
    const { allowedDomains: domains } = (await tenant.client.domains.get()).data
    expect(domains).toEqual([...local, 'a.dev', 'b.dev', 'c.dev'])
    expect((await tenant.client.domains.delete({ domains })).data.domainsRemoved).toEqual(domains)
  })
})

test('[O1] two servers that start at the same time on an empty PostgreSQL database both start and share its data', async () => {
  const databaseUrl = await createEmptyPostgresDatabase()
  const servers = await Promise.all(
    ['plenum-a-', 'plenum-b-'].map((prefix) =>
      startServer('postgres', { data: { dataDir: mkdtempSync(join(tmpdir(), prefix)), databaseUrl } }),
    ),
  )
  const [a, b] = servers as [TestServer, TestServer]
  const { apiKey, authToken } = await given.tenant(a)
  const { data } = await b.client({ apiKey, authToken }).organizations.get()
  expect(data).toEqual([])
  for (const server of servers) await server.stop()
})
