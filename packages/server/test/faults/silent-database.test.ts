import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isTimeout, isUnavailable } from '../../src/store/engine/failures.ts'
import { type PostgresService, startPostgres } from '../support/services/postgres.ts'
import * as given from '../support/given.ts'
import { startServer, type TestServer } from '../support/harness.ts'
import { eventually, synced } from '../support/clients/convergence.ts'
import { hocuspocusClient, saved } from '../support/clients/hocuspocus-client.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'

const timeoutSeconds = 2
const message =
  'The database did not answer in time. A write may or may not have been applied: send it again with the same Idempotency-Key.'

let postgres: PostgresService
let server: TestServer
beforeAll(async () => {
  postgres = await startPostgres()
  server = await startServer('postgres', {
    env: { DATABASE_TIMEOUT_SECONDS: String(timeoutSeconds) },
    data: { dataDir: '/tmp/plenum-unused', databaseUrl: await postgres.createDatabase() },
  })
})
afterAll(async () => {
  postgres?.thaw()
  await server?.stop()
  await postgres?.stop()
})

/** Freezes the database, runs the work, and thaws the database also after an error. */
async function whileSilent<T>(work: () => Promise<T>): Promise<T> {
  await postgres.freeze()
  try {
    return await work()
  } finally {
    postgres.thaw()
  }
}

const add = (tenant: given.Tenant, organizationId: string, key: string) =>
  server.post(
    '/v2/organizations/add',
    { data: { organizations: [{ organizationId }] } },
    { ...tenant.headers, 'idempotency-key': key },
  )

describe('a PostgreSQL that stops responding', () => {
  test('[O2] while PostgreSQL is silent, the server answers requests in time with DEADLINE_EXCEEDED, and serves them again afterwards', async () => {
    const tenant = await given.tenant(server)
    // All answers arrive while it is silent.
    const answers = await whileSilent(() =>
      Promise.all([
        server.post('/v2/organizations/get', { data: {} }, tenant.headers),
        add(tenant, 'silent', 'key'),
        ...Array.from({ length: 30 }, (_, index) => add(tenant, `more ${index}`, `key ${index}`)),
      ]),
    )
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 504,
        body: { error: { status: 'DEADLINE_EXCEEDED', message } },
      })
    }

    await eventually(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect((await add(tenant, 'silent', 'key')).status).toBe(200)
    expect((await tenant.client.organizations.get({})).data.map(({ id }) => id)).toContain('silent')
  })

  test('[O2.1] while PostgreSQL is silent, a query that gets no connection fails as unavailable', async () => {
    const query = () => sql`select 1`.execute(server.database.read)
    // More queries than connections: for those that get no connection, nothing is sent.
    const results = await whileSilent(() => Promise.allSettled(Array.from({ length: 30 }, query)))
    const kinds = results.map((result) => {
      if (result.status === 'fulfilled') return 'answered'
      if (isTimeout(result.reason)) return 'timeout'
      return isUnavailable(result.reason) ? 'unavailable' : String(result.reason)
    })
    expect(new Set(kinds)).toEqual(new Set(['timeout', 'unavailable']))
    await expect.poll(query).toMatchObject({ rows: [expect.anything()] })
  })

  test('[O2] a write that was in progress when PostgreSQL fell silent is applied once when it is retried with its Idempotency-Key', async () => {
    const tenant = await given.tenant(server)
    // Whether the freeze hits begin, insert or commit is random.
    for (let round = 0; round < 4; round++) {
      const writing = Array.from({ length: 6 }, (_, index) =>
        add(tenant, `${round}-${index}`, `${round}-${index}`),
      )
      const answers = await whileSilent(() => Promise.all(writing))
      await eventually(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
      for (const [index, answer] of answers.entries()) {
        const again = await add(tenant, `${round}-${index}`, `${round}-${index}`)
        expect(again.status).toBe(200)
        // Written once: a second run would report that the organization exists.
        expect(again.body.result.data[`${round}-${index}`].success).toBe(true)
        if (answer.status !== 200) expect([503, 504]).toContain(answer.status)
      }
    }
  })

  test('[O2.2] /readyz answers 503 while PostgreSQL is silent', async () => {
    const status = await whileSilent(async () => (await fetch(`${server.url}/readyz`)).status)
    expect(status).toBe(503)
    await eventually(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  test('[O2.3] [R7] text typed while PostgreSQL is silent is stored afterwards and reaches all clients, and an open /realtime socket can set live states', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const ada = yjsClient(server, token)
    const bob = hocuspocusClient(server, await tokenFor(tenant, 'bob'))
    const cleo = await RealtimeSocket.connect(server, await tokenFor(tenant, 'cleo'))
    await cleo.open()
    await synced(ada, bob)
    ada.text.insert(0, 'before ')
    await eventually(() => bob.text.toString()).toBe('before ')

    await whileSilent(async () => {
      ada.text.insert(7, 'meanwhile ')
      bob.text.insert(0, 'bob ')
      // The server gives up on the update and closes the connections, so that the clients reconnect.
      await eventually(() => server.logged.some((line) => line.includes('could not be stored'))).toBe(true)
    })
    ada.text.insert(0, 'after ')
    await eventually(() => ada.text.toString() === bob.text.toString() && ada.text.length).toBe(
      'before meanwhile bob after '.length,
    )
    await saved(bob)
    await eventually(async () => {
      const { data } = await tenant.client.crdt.get({ organizationId: 'org_1', documentId: 'doc_1' })
      return data[0]?.data
    }).toBe(ada.text.toString())
    expect((await cleo.set('state', { n: 1 })).type).toBe('done')
  })
})
