import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import {
  createPostgresDatabase,
  startServer,
  stores,
  type TestServer,
  useServer,
} from '../support/harness.ts'
import { exchange, post } from '../support/clients/raw-http.ts'

const dayMs = 24 * 60 * 60 * 1000

interface Answer {
  status: number
  text: string
  /** The header `idempotent-replayed`; null if the answer is not a replay. */
  replayed: string | null
}

async function call(
  server: TestServer,
  path: string,
  data: unknown,
  headers: Record<string, string>,
  idempotencyKey?: string,
): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify({ data }),
  })
  const { status, headers: answered } = response
  return { status, text: await response.text(), replayed: answered.get('idempotent-replayed') }
}

const errorOf = ({ status, text }: Answer) => ({ status, ...JSON.parse(text).error })
const newKey = { ownerEmail: 'keys@example.com', type: 'testing' }
const ofWorkspace = (tenant: given.Tenant) => given.headersFor(tenant, 'workspace')
const keysOf = async ({ client }: given.Tenant) => (await client.apiKeys.get()).data.length
/** Splits the answers to calls with one Idempotency-Key: those of calls that took effect, replays, and all others. */
function sorted(answers: Answer[]) {
  const effects = answers.filter(({ status, replayed }) => status === 200 && replayed === null)
  const replays = answers.filter(({ status, replayed }) => status === 200 && replayed === 'true')
  const others = answers.filter(({ status }) => status !== 200)
  return { effects, replays, others }
}

describe.each(stores)('idempotency on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[I1] [I1.3] a repeated call with the same Idempotency-Key and body gets the same bytes and has no second effect, also after a partial failure', async () => {
    const tenant = await given.tenant(server)
    const { headers, client } = tenant
    await client.domains.add({ domains: ['there.example.com'] })
    const editor = { organizationId: 'o', documentId: 'd', editorId: 'e' }
    const owner = { ownerEmail: 'replayed@example.com', workspaceName: 'Replayed' }
    const calls: [path: string, data: unknown, headers: Record<string, string>, status: number][] = [
      ['/v2/organizations/add', { organizations: [{ organizationId: 'a' }] }, headers, 200],
      ['/v2/crdt/add', { ...editor, data: 'Hello', type: 'text' }, headers, 200],
      ['/v2/workspace/domains/add', { domains: ['there.example.com', 'new.example.com'] }, headers, 500],
      ['/v2/workspace/apikey/create', newKey, ofWorkspace(tenant), 200],
      ['/v2/workspace/create', owner, {}, 200],
    ]
    for (const [path, data, credentials, status] of calls) {
      const first = await call(server, path, data, credentials, 'once')
      expect(first).toEqual({ status, text: expect.any(String), replayed: null })
      for (let i = 0; i < 2; i++) {
        expect(await call(server, path, data, credentials, 'once')).toEqual({ ...first, replayed: 'true' })
      }
      expect(await call(server, path, data, credentials)).not.toMatchObject({ text: first.text })
    }
    // The workspace has its first API key, one created with the Idempotency-Key and one created without it.
    expect(await keysOf(tenant)).toBe(3)
    expect((await client.domains.get()).data.allowedDomains).toContain('new.example.com')

    const { result } = JSON.parse((await call(server, '/v2/workspace/create', owner, {}, 'once')).text)
    const workspace = { workspaceId: result.data.id, workspaceAuthToken: result.data.authToken }
    expect((await server.client(workspace).workspace.get()).data).toMatchObject({ id: result.data.id })
  })

  test('[I1] a call with a used Idempotency-Key and another body fails with INVALID_ARGUMENT and has no effect', async () => {
    const { headers, client } = await given.tenant(server)
    const add = (organizationId: string) =>
      call(server, '/v2/organizations/add', { organizations: [{ organizationId }] }, headers, 'one-key')
    expect((await add('a')).status).toBe(200)
    expect(errorOf(await add('b'))).toEqual({
      status: 'INVALID_ARGUMENT',
      message: 'This Idempotency-Key was used with another request body.',
    })
    expect((await add('a')).replayed).toBe('true')
    expect((await client.organizations.get()).data.map(({ id }) => id)).toEqual(['a'])
  })

  test('[I1.1] an Idempotency-Key is separate for each operation, version, API key and workspace', async () => {
    const one = await given.tenant(server)
    const two = await given.tenant(server)
    const data = { organizations: [{ organizationId: 'a', organizationName: 'A' }] }
    const calls: [string, unknown, Record<string, string>][] = [
      ['/v2/organizations/add', data, one.headers],
      ['/v1/organizations/add', data, one.headers],
      ['/v2/organizations/update', data, one.headers],
      ['/v2/organizations/add', data, two.headers],
      ['/v2/workspace/apikey/create', newKey, ofWorkspace(one)],
      ['/v2/workspace/apikey/create', newKey, ofWorkspace(two)],
    ]
    for (const [path, input, headers] of calls) {
      expect(await call(server, path, input, headers, 'shared')).toMatchObject({
        status: 200,
        replayed: null,
      })
    }
  })

  test('[I1.3] a refused call leaves its Idempotency-Key unused', async () => {
    const { headers } = await given.tenant(server)
    const place = { organizationId: 'o', documentId: 'd', editorId: 'e' }
    const text = { ...place, data: 'x', type: 'text' }
    const update = (input: unknown) => call(server, '/v2/crdt/update', input, headers, 'free')
    expect((await update({ ...place, type: 'no such type' })).status).toBe(400)
    expect(
      (await call(server, '/v2/crdt/update', text, { ...headers, 'x-svc-auth-token': 'x' }, 'free')).status,
    ).toBe(401)
    expect(await update(text)).toMatchObject({ status: 404, replayed: null })
    expect(await update(text)).toMatchObject({ status: 404, replayed: null })
    await call(server, '/v2/crdt/add', text, headers)
    expect(await update(text)).toMatchObject({ status: 200, replayed: null })
    expect(await update(text)).toMatchObject({ status: 200, replayed: 'true' })
    // A stored answer does not bypass the check of credentials.
    expect(
      (await call(server, '/v2/crdt/update', text, { ...headers, 'x-svc-auth-token': 'x' }, 'free')).status,
    ).toBe(401)
  })

  test('[I1] one of several concurrent calls with one Idempotency-Key takes effect, and the others get its answer or ABORTED', async () => {
    const tenant = await given.tenant(server)
    for (let round = 0; round < 5; round++) {
      const before = await keysOf(tenant)
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          call(server, '/v2/workspace/apikey/create', newKey, ofWorkspace(tenant), `round-${round}`),
        ),
      )
      const { effects, replays, others } = sorted(answers)
      expect(effects).toHaveLength(1)
      for (const { text } of replays) expect(text).toBe(effects[0]?.text)
      for (const other of others) {
        expect(errorOf(other)).toEqual({
          status: 'ABORTED',
          message: 'A request with this Idempotency-Key is in progress.',
        })
      }
      expect(await keysOf(tenant)).toBe(before + 1)
    }
  })

  test('[I1.2] the server keeps an answer for 24 hours', async () => {
    const tenant = await given.tenant(server)
    const create = () => call(server, '/v2/workspace/apikey/create', newKey, ofWorkspace(tenant), 'daily')
    const first = await create()
    server.clock.offsetMs = dayMs - 60_000
    expect(await create()).toEqual({ ...first, replayed: 'true' })
    server.clock.offsetMs = dayMs + 1000
    const second = await create()
    expect(second).toMatchObject({ status: 200, replayed: null })
    expect(await create()).toEqual({ ...second, replayed: 'true' })
    expect(await keysOf(tenant)).toBe(3)
    server.clock.offsetMs = 0
  })

  test('[I1.4] writes refuse an Idempotency-Key that does not have 1 to 255 visible ASCII characters, and reads ignore it', async () => {
    const { headers } = await given.tenant(server)
    const data = { organizations: [{ organizationId: 'a' }] }
    const message = 'Idempotency-Key must have 1 to 255 visible ASCII characters.'
    for (const key of ['', 'k'.repeat(256), 'two words', 'tab\tbed', 'caf\u00e9']) {
      const body = JSON.stringify({ data })
      const raw = await exchange(
        server.url,
        Buffer.from(post('/v2/organizations/add', { ...headers, 'idempotency-key': key }, body), 'latin1'),
      )
      expect(JSON.parse(raw?.text ?? '')).toEqual({ error: { status: 'INVALID_ARGUMENT', message } })
      // Reads ignore the Idempotency-Key: they have no effect that could happen twice.
      expect(await call(server, '/v2/organizations/get', {}, { ...headers, 'idempotency-key': key })).toEqual(
        {
          status: 200,
          text: expect.stringContaining('"data":[]'),
          replayed: null,
        },
      )
    }
    const longest = '~'.repeat(255)
    expect((await call(server, '/v2/organizations/add', data, headers, longest)).replayed).toBeNull()
    expect((await call(server, '/v2/organizations/add', data, headers, longest)).replayed).toBe('true')
  })

  test('[I1.2] kept answers survive a restart, and the database contains no readable token', async () => {
    const databaseUrl = store === 'postgres' ? await createPostgresDatabase() : undefined
    const dataDir = mkdtempSync(join(tmpdir(), 'plenum-test-'))
    const before = await startServer(store, { data: { dataDir, databaseUrl } })
    const owner = { ownerEmail: 'restart@example.com', workspaceName: 'A name only this test has' }
    const first = await call(before, '/v2/workspace/create', owner, {}, 'restart')
    const after = await before.restart()
    expect(await call(after, '/v2/workspace/create', owner, {}, 'restart')).toEqual({
      ...first,
      replayed: 'true',
    })

    const { authToken } = JSON.parse(first.text).result.data
    const stored = store === 'sqlite' ? filesOf(dataDir) : await rowsOf(after)
    expect(stored).toContain(owner.workspaceName)
    for (const secret of [authToken, authToken.split('.')[2]]) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'))
    }
    await after.stop()
  })
})

const filesOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')

/** Returns every value of every table as one text, bytes in hexadecimal digits. */
async function rowsOf({ database }: TestServer): Promise<string> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(
    database.read,
  )
  const rows = await Promise.all(
    tables.rows.map(({ name }) => sql`select t::text from ${sql.table(name)} as t`.execute(database.read)),
  )
  return JSON.stringify(rows.map((found) => found.rows))
}

test('[I1.1] for Create Workspace, an Idempotency-Key is separate for each address', async () => {
  const server = await startServer('sqlite', { env: { TRUSTED_PROXY_HOPS: '1' } })
  const owner = { ownerEmail: 'address@example.com' }
  const create = (address: string) =>
    call(server, '/v2/workspace/create', owner, { 'x-forwarded-for': address }, 'shared')
  const first = await create('192.0.2.1')
  const other = await create('192.0.2.2')
  expect([first, other]).toMatchObject([
    { status: 200, replayed: null },
    { status: 200, replayed: null },
  ])
  expect(other.text).not.toBe(first.text)
  expect(await create('192.0.2.1')).toEqual({ ...first, replayed: 'true' })
  await server.stop()
})

test('[I1] concurrent calls with one Idempotency-Key at two servers on one PostgreSQL take effect once', async () => {
  const databaseUrl = await createPostgresDatabase()
  const servers = await Promise.all(
    [0, 1].map(() =>
      startServer('postgres', {
        data: { dataDir: mkdtempSync(join(tmpdir(), 'plenum-test-')), databaseUrl },
      }),
    ),
  )
  const [here, there] = servers as [TestServer, TestServer]
  const tenant = await given.tenant(here)
  for (let round = 0; round < 10; round++) {
    const before = await keysOf(tenant)
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        call(
          index % 2 ? here : there,
          '/v2/workspace/apikey/create',
          newKey,
          ofWorkspace(tenant),
          `round-${round}`,
        ),
      ),
    )
    const { effects, replays, others } = sorted(answers)
    expect(effects).toHaveLength(1)
    for (const { text } of replays) expect(text).toBe(effects[0]?.text)
    for (const other of others) expect(errorOf(other)).toMatchObject({ status: 'ABORTED' })
    expect(await keysOf(tenant)).toBe(before + 1)
    // Both servers replay the answer, whichever of them carried out the call.
    for (const server of servers) {
      const again = await call(
        server,
        '/v2/workspace/apikey/create',
        newKey,
        ofWorkspace(tenant),
        `round-${round}`,
      )
      expect(again).toEqual({ ...effects[0], replayed: 'true' })
    }
  }
  await Promise.all(servers.map((server) => server.stop()))
})
