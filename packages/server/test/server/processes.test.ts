import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@plenum/client'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/services/postgres.ts'
import { createPostgresDatabase } from '../support/harness.ts'
import { failToStart, startProcess } from '../support/processes/process.ts'
import { startWith } from '../support/processes/settings.ts'
import { freePort } from '../support/services/postgres.ts'
import { synced } from '../support/clients/convergence.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { openHttp, post } from '../support/clients/raw-http.ts'
import { hocuspocusTypist, yjsTypist } from '../support/clients/typists.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'

const SECRET_KEY = 'a secret key that only these tests use'
const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-process-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function createTenant({ url }: { url: string }) {
  const { data } = await createClient({ url }).workspace.create({ ownerEmail: 'process@example.com' })
  const [apiKey] = Object.keys(data.apiKeyList) as [string]
  const workspace = { workspaceId: data.id, workspaceAuthToken: data.authToken }
  const tokens = await createClient({ url, ...workspace }).authTokens.get({ apiKey })
  return { ...workspace, apiKey, authToken: tokens.data.authTokens[0]?.token ?? '' }
}
type Credentials = Awaited<ReturnType<typeof createTenant>>

const headersOf = ({ apiKey, authToken }: Credentials) => ({
  'x-svc-api-key': apiKey,
  'x-svc-auth-token': authToken,
})
const newOrganization = (organizationId: string) =>
  JSON.stringify({ data: { organizations: [{ organizationId }] } })

async function idsIn(url: string, credentials: Credentials): Promise<Set<string>> {
  const client = createClient({ url, ...credentials })
  const ids = new Set<string>()
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    const page = await client.organizations.get({ ...(pageToken && { pageToken }) })
    for (const { id } of page.data) ids.add(id)
    pageToken = page.nextPageToken
  }
  return ids
}

/** Adds organizations without pause until `stop` is called, and records the answers. */
function writeWithoutPause(url: string, credentials: Credentials, writers = 8) {
  const acknowledged: string[] = []
  const refusals: { status: number; code: string; retryAfter: string | null }[] = []
  let broken = 0
  let running = true
  let next = 0
  onTestFinished(() => void (running = false))
  const done = Promise.all(
    Array.from({ length: writers }, async () => {
      while (running) {
        const organizationId = `org-${next++}`
        try {
          const response = await fetch(`${url}/v2/organizations/add`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headersOf(credentials) },
            body: newOrganization(organizationId),
            // No request may hang.
            signal: AbortSignal.timeout(60_000),
          })
          const { error } = await response.json()
          const retryAfter = response.headers.get('retry-after')
          if (response.status === 200) acknowledged.push(organizationId)
          else refusals.push({ status: response.status, code: error.status, retryAfter })
        } catch (error) {
          if ((error as Error).name === 'TimeoutError') throw error
          broken++
          await new Promise((later) => setTimeout(later, 5))
        }
      }
    }),
  )
  return {
    acknowledged,
    refusals,
    get broken() {
      return broken
    },
    stop: () => ((running = false), done),
  }
}

describe('[O1] shutting down', () => {
  test('[O1] a server under load answers accepted requests after SIGTERM, refuses new ones and exits with code 0', async () => {
    // After this time the exit code would be 1.
    const env = { DATA_DIR: newFolder(), SHUTDOWN_SECONDS: '60' }
    const server = await startProcess('server', env)
    const credentials = await createTenant(server)
    const load = writeWithoutPause(server.url, credentials)
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(50)

    // The server has these requests, and waits for their bodies.
    const accepted = Array.from({ length: 5 }, (_, index) => {
      const connection = openHttp(server.url)
      const body = newOrganization(`accepted-${index}`)
      const request = post(
        '/v2/organizations/add',
        { ...headersOf(credentials), expect: '100-continue' },
        body,
      )
      connection.send(request.slice(0, -body.length))
      return { connection, body }
    })
    for (const { connection } of accepted) expect((await connection.answer())?.status).toBe(100)
    const idle = openHttp(server.url)
    idle.send('GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n')
    expect((await idle.answer())?.status).toBe(200)

    const ended = server.terminate()
    await idle.closed
    for (const { connection, body } of accepted) connection.send(body)
    for (const { connection } of accepted) {
      expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    }
    expect(await ended).toBe(0)
    await load.stop()

    const unexpected = load.refusals.filter(({ status, code }) => status !== 503 || code !== 'UNAVAILABLE')
    expect(unexpected).toEqual([])
    const again = await startProcess('server', env)
    const ids = await idsIn(again.url, credentials)
    expect(load.acknowledged.filter((id) => !ids.has(id))).toEqual([])
    expect(accepted.filter((_, index) => !ids.has(`accepted-${index}`))).toEqual([])
    expect(await again.terminate()).toBe(0)
  })

  test('[O1] after SIGTERM, SHUTDOWN_SECONDS ends a server that still waits for a request, with exit code 1', async () => {
    const server = await startProcess('server', { DATA_DIR: newFolder(), SHUTDOWN_SECONDS: '1' })
    const credentials = await createTenant(server)
    const connection = openHttp(server.url)
    const headers = { ...headersOf(credentials), expect: '100-continue', 'content-length': '100' }
    connection.send(post('/v2/organizations/get', headers))
    expect((await connection.answer())?.status).toBe(100)
    expect(await server.terminate()).toBe(1)
  })
})

describe('[O1] starting', () => {
  test('[O1] a second server on the same folder or port reports why it cannot start', async () => {
    const DATA_DIR = newFolder()
    const server = await startProcess('server', { DATA_DIR })
    const { port } = new URL(server.url)
    expect(await failToStart({ DATA_DIR, PORT: String(await freePort()) })).toEqual({
      code: 1,
      says: `Plenum cannot start: The data folder ${DATA_DIR} is in use by a server or by another plenum command. Stop it, and try again.\n`,
    })
    expect(await failToStart({ DATA_DIR: newFolder(), PORT: port })).toEqual({
      code: 1,
      says: `Plenum cannot start: Port ${port} on 127.0.0.1 is in use. Set PORT to another one.\n`,
    })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    // The lock ends with the process, even if the process is killed.
    await server.kill()
    expect(await (await startProcess('server', { DATA_DIR })).terminate()).toBe(0)
  })

  test('[O1.2] only the user of the server can read the files of the database, whatever the folder allows, also those that others could read', async () => {
    const DATA_DIR = newFolder()
    chmodSync(DATA_DIR, 0o755)
    const modes = () =>
      Object.fromEntries(
        readdirSync(DATA_DIR).map((name) => [
          name,
          (statSync(join(DATA_DIR, name)).mode & 0o777).toString(8),
        ]),
      )
    const files = ['plenum.db', 'plenum.db-shm', 'plenum.db-wal', 'secret.key', 'server.lock']
    files.push('server.lock-journal')
    const expected = Object.fromEntries(files.map((name) => [name, '600']))
    const first = await startProcess('server', { DATA_DIR })
    expect(modes()).toEqual(expected)
    // A killed server leaves all files.
    await first.kill()
    for (const name of files) chmodSync(join(DATA_DIR, name), 0o644)
    const second = await startProcess('server', { DATA_DIR })
    expect(modes()).toEqual({ ...expected, 'secret.key': '644' })
    await second.terminate()
  })

  test('[O1] the generated secret is readable only by its owner and reused at the next start, and if it is damaged or lost the server does not start', async () => {
    const DATA_DIR = join(newFolder(), 'made/by/the/server')
    const first = await startProcess('server', { DATA_DIR })
    const credentials = await createTenant(first)
    await first.terminate()
    const file = join(DATA_DIR, 'secret.key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700)
    const secret = readFileSync(file, 'utf8')
    expect(secret).toMatch(/^[\w-]{43}\n$/)

    const second = await startProcess('server', { DATA_DIR })
    expect((await idsIn(second.url, credentials)).size).toBe(0)
    await second.terminate()
    expect(readFileSync(file, 'utf8')).toBe(secret)

    chmodSync(file, 0o600)
    writeFileSync(file, '')
    expect(await failToStart({ DATA_DIR, PORT: '0' })).toEqual({
      code: 1,
      says: `Plenum cannot start: ${file} is damaged. Restore it from your backup.\n`,
    })

    // A restored database without its secret: a newly generated secret would hide that the file is missing.
    rmSync(file)
    expect(await failToStart({ DATA_DIR, PORT: '0' })).toEqual({
      code: 1,
      says: expect.stringContaining(`${file}, does not. Restore the file from your backup`),
    })
    expect(existsSync(file)).toBe(false)
  })

  test('[C1] a server that cannot start names the unusable folder, host or database file', async () => {
    const blocked = join(newFolder(), 'file')
    writeFileSync(blocked, '')
    expect(await failToStart({ DATA_DIR: blocked, PORT: '0' })).toEqual({
      code: 1,
      says: expect.stringMatching(
        /^Plenum cannot start: DATA_DIR must be a folder that can be written, but .+\n$/,
      ),
    })
    expect(await failToStart({ DATA_DIR: newFolder(), PORT: '0', HOST: 'no such host' })).toEqual({
      code: 1,
      says: expect.stringMatching(/^Plenum cannot start: HOST no such host and PORT 0 cannot be used: .+\n$/),
    })
    const DATA_DIR = newFolder()
    writeFileSync(join(DATA_DIR, 'plenum.db'), 'this is no database, but a text of some length'.repeat(100))
    expect(await failToStart({ DATA_DIR, PORT: '0', SECRET_KEY })).toEqual({
      code: 1,
      says: expect.stringMatching(
        /^Plenum cannot start: .+plenum\.db is damaged: .+ Put a backup in its place\.\n$/,
      ),
    })
  })

  test.each(['sqlite', 'postgres'])(
    '[O1.1] a server with another SECRET_KEY does not start on the same database: %s',
    async (store) => {
      const env: Record<string, string> = { DATA_DIR: newFolder(), SECRET_KEY }
      if (store === 'postgres') env.DATABASE_URL = await createPostgresDatabase()
      const server = await startWith(env)
      const credentials = await createTenant(server)
      await server.end()
      expect(await failToStart({ ...env, SECRET_KEY: 'another key that is long enough to be one' })).toEqual({
        code: 1,
        says: expect.stringMatching(
          /^Plenum cannot start: SECRET_KEY does not match this database\. .+secret\.key in DATA_DIR\.\n$/,
        ),
      })
      const again = await startWith(env)
      expect((await idsIn(again.url, credentials)).size).toBe(0)
    },
  )

  test('[O1] a server that cannot connect to PostgreSQL reports why, without the password', async () => {
    const env = { DATA_DIR: newFolder(), SECRET_KEY, PORT: '0' }
    const unreachableUrl = `postgres://plenum:canary-password@127.0.0.1:${await freePort()}/plenum`
    const silent = await failToStart({ ...env, DATABASE_URL: unreachableUrl })
    expect(silent).toEqual({
      code: 1,
      says: expect.stringMatching(/^Plenum cannot start: PostgreSQL does not answer: .+\n$/),
    })
    expect(silent.says).not.toContain('canary')
    const missing = new URL(await createPostgresDatabase())
    missing.pathname = '/no_such_database'
    expect(await failToStart({ ...env, DATABASE_URL: missing.href })).toEqual({
      code: 1,
      says: 'Plenum cannot start: PostgreSQL refuses: database "no_such_database" does not exist.\n',
    })
  })

  test('[O1] a server whose PgBouncer refuses a parameter of the connection says which setting PgBouncer needs', async () => {
    // The answer of PgBouncer 1.24 to a parameter that it does not know.
    const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0'
    const answer = Buffer.from(`E0000${fields}`)
    answer.writeInt32BE(answer.length - 1, 1)
    const pooler = createServer((socket) => socket.once('data', () => socket.end(answer)))
    onTestFinished(() => void pooler.close())
    await once(pooler.listen(0, '127.0.0.1'), 'listening')
    const { port } = pooler.address() as AddressInfo
    const DATABASE_URL = `postgres://plenum@127.0.0.1:${port}/plenum`
    expect(await failToStart({ DATA_DIR: newFolder(), SECRET_KEY, PORT: '0', DATABASE_URL })).toEqual({
      code: 1,
      says: expect.stringMatching(
        / parameter: statement_timeout\. .+: ignore_startup_parameters = statement_timeout,/,
      ),
    })
  })
})

describe('[O1] a PostgreSQL that is killed and restarted', () => {
  test('[O1] [O2.3] the server keeps running while PostgreSQL is down, answers UNAVAILABLE, writes again within 5 s, and loses no acknowledged write and no confirmed edit', async () => {
    const postgres = await startPostgres({ durable: true })
    const DATABASE_URL = await postgres.createDatabase()
    const server = await startProcess('server', { DATA_DIR: newFolder(), SECRET_KEY, DATABASE_URL })
    const credentials = await createTenant(server)
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`)
      return { status: response.status, body: await response.json() }
    }
    const load = writeWithoutPause(server.url, credentials)
    const { data } = await createClient({ url: server.url, ...credentials }).auth.generateToken({
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      permissions: { resources: [{ type: 'organization', id: 'org_1' }] },
    })
    const typists = [yjsTypist, hocuspocusTypist].map((create, index) =>
      create(server, data.token, 'org_1/doc_1/note', `t${index}`),
    )
    const confirmed = () => typists.flatMap((one) => one.confirmed)
    const typing = typists.map((one) => one.type())
    for (let kill = 0; kill < 2; kill++) {
      const [answered, refused, edits] = [load.acknowledged.length, load.refusals.length, confirmed().length]
      await expect.poll(() => load.acknowledged.length - answered).toBeGreaterThan(30)
      await expect.poll(() => confirmed().length - edits).toBeGreaterThan(10)
      await postgres.kill()
      expect(await ready()).toEqual({
        status: 503,
        body: { status: 'unavailable', reason: 'The database does not answer.' },
      })
      await expect.poll(() => load.refusals.length - refused).toBeGreaterThan(20)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

      await postgres.restart()
      const [back, editsBack] = [load.acknowledged.length, confirmed().length]
      await expect.poll(ready).toEqual({ status: 200, body: { status: 'ready' } })
      await expect.poll(() => load.acknowledged.length - back).toBeGreaterThan(0)
      await expect.poll(() => confirmed().length - editsBack).toBeGreaterThan(0)
    }
    await load.stop()
    for (const one of typists) one.stop()
    await Promise.all(typing)
    const words = confirmed()
    // Nobody who has the text can send it again.
    closeClients()
    const reader = yjsClient(server, data.token, { name: 'org_1/doc_1/note' })
    await synced(reader)
    const text = reader.text.toString()
    expect(words.filter((word) => !text.includes(word))).toEqual([])
    const kinds = new Set(load.refusals.map((refusal) => JSON.stringify(refusal)))
    expect([...kinds]).toEqual([JSON.stringify({ status: 503, code: 'UNAVAILABLE', retryAfter: '1' })])
    expect(load.broken).toBe(0)
    const ids = await idsIn(server.url, credentials)
    expect(load.acknowledged.filter((id) => !ids.has(id))).toEqual([])
    expect(await server.terminate()).toBe(0)
    await postgres.stop()
  })
})
