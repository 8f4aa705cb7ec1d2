import { randomBytes } from 'node:crypto'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import * as given from '../support/given.ts'
import { createPostgresDatabase, startServer, stores, useServer } from '../support/harness.ts'
import { exchange, post } from '../support/clients/raw-http.ts'
import { Proxy } from '../support/faults/proxy.ts'
import { fillUp, mountSmallDisk } from '../support/faults/small-disk.ts'
import { startPostgres } from '../support/services/postgres.ts'

const internal = { status: 500, body: { error: { status: 'INTERNAL', message: 'Internal error.' } } }

describe.each(stores)('[O1] the pages and the log for operators on %s', (store) => {
  const server = useServer(store, { env: { LOG_LEVEL: 'debug' } })
  const page = async (path: string) => {
    const response = await fetch(`${server.url}${path}`)
    return { status: response.status, text: await response.text() }
  }

  test('[O1] /healthz shows the database and its durability, and /readyz shows that the database answers', async () => {
    const health = await page('/healthz')
    expect({ ...health, text: JSON.parse(health.text) }).toEqual({
      status: 200,
      text: { status: 'ok', database: store, durability: 'full', uptimeSeconds: expect.any(Number) },
    })
    expect(await page('/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' })
    const relaxed = await startServer(store, { env: { DURABILITY: 'relaxed' } })
    expect(await (await fetch(`${relaxed.url}/healthz`)).json()).toMatchObject({ durability: 'relaxed' })
    await relaxed.stop()
  })

  test('[O1] the debug log has each request and the stack of each internal error, and the answer has no stack', async () => {
    const { client, headers } = await given.tenant(server)
    await breakTable('organizations')
    const response = await fetch(`${server.url}/v2/organizations/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"data":{"organizations":[{"organizationId":"broken","organizationName":"canary-row"}]}}',
    })
    await mendTable('organizations')
    expect({ status: response.status, body: await response.json() }).toEqual(internal)
    const reqId = response.headers.get('x-request-id')
    const lines = server.logged.map((line) => JSON.parse(line)).filter((line) => line.reqId === reqId)
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: 'Internal error.',
        err: {
          type: expect.any(String),
          message: expect.any(String),
          stack: expect.stringContaining('\n    at '),
          code: expect.anything(),
        },
      }),
      expect.objectContaining({
        level: 'debug',
        msg: 'request',
        operation: 'organizations.add',
        status: 500,
      }),
    ])
    expect(server.logged.join('')).not.toContain('canary-row')
    expect((await client.organizations.get()).data).toEqual([])
  })

  test('[O1] the log contains no secret and no content, also for requests that fail', async () => {
    const tenant = await given.tenant(server)
    const canary = 'canary-7f3a'
    const secret = `SG.${canary}`
    const headers = {
      ...tenant.headers,
      authorization: `Bearer ${canary}`,
      cookie: `session=${canary}`,
      'idempotency-key': canary,
      'user-agent': canary,
    }
    const emailServiceConfig = {
      type: 'sendgrid',
      apiKey: secret,
      fromEmail: 'a@example.com',
      fromCompany: 'A',
    }
    const data = { useEmailService: true, emailServiceConfig }
    expect((await server.post('/v2/workspace/emailconfig/update', { data }, headers)).status).toBe(200)
    const user = { userId: canary, email: `${canary}@example.com`, name: canary, secret }
    await server.post('/v2/users/add', { data: { organizationId: canary, users: [user] } }, headers)
    await server.post(
      '/v2/workspace/emailconfig/update',
      { data: { emailServiceConfig: { type: secret } } },
      headers,
    )
    await server.post(`/v2/nothing?token=${canary}`, `{"data":"${canary}`, headers)
    await server.post('/v2/organizations/get', `{"data":"${canary}`, {
      ...headers,
      'content-type': 'text/plain',
    })
    for (const token of [canary, `${tenant.authToken}x`]) {
      const wrong = { 'x-svc-api-key': canary, 'x-svc-auth-token': token, 'x-svc-workspace-id': canary }
      await server.post('/v2/organizations/get', { data: {} }, wrong)
      await server.post('/v2/workspace/get', { data: {} }, wrong)
    }
    await exchange(server.url, `GET / HTTP/1.1\r\nx-${canary}\r\n\r\n`)
    await exchange(
      server.url,
      post('/v2/users/add', { ...headers, 'transfer-encoding': 'chunked' }, `zz${canary}\r\n`),
    )
    await breakTable('users')
    const failing = {
      organizationId: 'o',
      createOrganization: true,
      users: [{ ...user, userId: `${canary}-2` }],
    }
    const { status, body } = await server.post(
      '/v2/users/add',
      { data: failing },
      { ...headers, 'idempotency-key': 'x' },
    )
    await mendTable('users')
    expect({ status, body }).toEqual(internal)

    expect(server.logged.length).toBeGreaterThan(5)
    const log = server.logged.join('')
    for (const hidden of [canary, tenant.authToken, tenant.workspaceAuthToken])
      expect(log).not.toContain(hidden)
  })

  /** Makes the database refuse new rows with an error in which PostgreSQL includes the values of the row. */
  const breakTable = (name: string) =>
    server.database.write(async (db) => {
      const table = sql.table(name)
      if (store === 'postgres')
        await sql`alter table ${table} add constraint broken check (false) not valid`.execute(db)
      else
        await sql`create trigger broken before insert on ${table} begin select raise(abort, 'broken'); end`.execute(
          db,
        )
    })
  const mendTable = (name: string) =>
    server.database.write(async (db) => {
      if (store === 'postgres') await sql`alter table ${sql.table(name)} drop constraint broken`.execute(db)
      else await sql`drop trigger broken`.execute(db)
    })
})

describe('[O1] an unreachable PostgreSQL', () => {
  test('[O2.2] /readyz answers 503 within 4 s while the database does not respond, and 200 when it responds again', async () => {
    const proxy = await Proxy.start(await createPostgresDatabase())
    onTestFinished(() => proxy.close())
    const server = await startServer('postgres', {
      data: { dataDir: newFolder(), databaseUrl: proxy.url },
    })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    proxy.pass('none')
    const response = await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(4000) })
    expect(response.status).toBe(503)
    proxy.restore()
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  })
})

describe('[P5] a full disk', () => {
  const unavailable = {
    status: 'UNAVAILABLE',
    httpStatus: 503,
    retryAfterSeconds: 1,
    message: expect.stringMatching(/^The disk of the database is full, /),
  }
  const writesRefused = {
    status: 200,
    body: {
      status: 'ready',
      warnings: ['The disk of the database is full: writes are refused, reads continue. Free some space.'],
    },
    metric: '1',
  }
  const readiness = async ({ url }: { url: string }) => {
    const response = await fetch(`${url}/readyz`)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const [, metric] = /^plenum_database_disk_full (\d)$/m.exec(metrics) ?? []
    return { status: response.status, body: await response.json(), metric }
  }

  test('[P5] a server on SQLite with a full disk refuses writes, serves reads, loses no acknowledged write, and accepts writes again later', async ({
    skip,
  }) => {
    const disk = mountSmallDisk()
    if (typeof disk === 'string') return skip(disk)
    const dataDir = join(disk.folder, 'data')
    const filler = join(disk.folder, 'filler')
    writeFileSync(filler, Buffer.alloc(3 * 1024 * 1024))
    const server = await startServer('sqlite', { data: { dataDir, databaseUrl: undefined } })
    const { client } = await given.tenant(server)
    const acknowledged: string[] = []
    let next = 0
    const write = async () => {
      const organizationId = `org-${next++}`
      await client.organizations.add({ organizations: [{ organizationId, text: 'x'.repeat(10_000) }] })
      acknowledged.push(organizationId)
    }
    const writeUntilRefused = async () => {
      for (let tries = 0; tries < 2000; tries++) {
        const refusal = await write().catch((error: unknown) => error)
        if (refusal) return refusal
      }
      throw new Error('The disk never became full.')
    }
    const stored = async () => (await client.organizations.get()).data.map(({ id }) => id)

    expect(await writeUntilRefused()).toMatchObject(unavailable)
    expect(acknowledged.length).toBeGreaterThan(50)
    // A checkpoint may make room for some more writes.
    const refusals = await Promise.all([writeUntilRefused(), writeUntilRefused()])
    expect(refusals).toMatchObject([unavailable, unavailable])
    expect((await stored()).toSorted()).toEqual(acknowledged.toSorted())
    await expect.poll(() => readiness(server)).toEqual(writesRefused)

    rmSync(filler)
    await write()
    await write()
    expect((await stored()).toSorted()).toEqual(acknowledged.toSorted())

    const again = await server.restart()
    const db = new DatabaseSync(join(dataDir, 'plenum.db'), { readOnly: true })
    expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(db.prepare('select count(*) as n from organizations').get()).toEqual({ n: acknowledged.length })
    db.close()
    await again.stop()
    disk.unmount()
  })

  test('[P5] a server on PostgreSQL with a full disk refuses writes, serves reads, and accepts writes again later', async ({
    skip,
  }) => {
    const disk = mountSmallDisk('24m')
    if (typeof disk === 'string') return skip(disk)
    const postgres = await startPostgres()
    const admin = new pg.Client({ connectionString: postgres.url })
    await admin.connect()
    // PostgreSQL may run as another user.
    chmodSync(disk.folder, 0o777)
    await admin.query(`copy (select 1) to program 'cat > /dev/null; mkdir -m 700 ${disk.folder}/space'`)
    await admin.query(`create tablespace small location '${disk.folder}/space'`)
    const databaseUrl = await postgres.createDatabase()
    await admin.query(`alter database ${new URL(databaseUrl).pathname.slice(1)} set tablespace small`)
    const server = await startServer('postgres', { data: { dataDir: newFolder(), databaseUrl } })
    const { client } = await given.tenant(server)
    const filler = join(disk.folder, 'filler')
    fillUp(filler)
    let next = 0
    const write = () =>
      client.organizations.add({
        organizations: [{ organizationId: `org-${next++}`, text: randomBytes(5_000).toString('hex') }],
      })
    const refusal = await Promise.all(Array.from({ length: 200 }, write)).catch((error: unknown) => error)
    expect(refusal).toMatchObject(unavailable)
    await client.organizations.get()
    await expect.poll(() => readiness(server)).toEqual(writesRefused)

    rmSync(filler)
    await write()
    await server.stop()
    await admin.end()
    await postgres.stop()
    disk.unmount()
  })
})
