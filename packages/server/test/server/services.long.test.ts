import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import {
  createDatabase,
  givenOrStarted,
  type PostgresOptions,
  startPostgres,
} from '../support/services/postgres.ts'
import { findOrInstall, postgresPrograms } from '../support/services/programs.ts'
import { postgresForTests } from '../support/services/shared-postgres.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

async function start(options?: PostgresOptions) {
  const postgres = await startPostgres(options)
  onTestFinished(() => postgres.stop())
  return postgres
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** Opens a session, and returns a promise of the error that ends it. */
async function openSession(url: string): Promise<{ error: Promise<unknown> }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return { error: once(client, 'error').then(([error]) => error as unknown) }
}

// Programs that the tests run do not say what is missing.
beforeAll(() => void findOrInstall(postgresPrograms))

afterEach(() => {
  vi.unstubAllEnvs()
})

test('[T1] a PostgreSQL started for tests listens only on the loopback, and its databases are empty and separate', async () => {
  const postgres = await start()
  const [one, other] = await Promise.all([postgres.createDatabase(), postgres.createDatabase('a "name"')])
  await query(one, 'create table thing (id int)')
  const tables = `select count(*)::int as count from pg_tables where schemaname = 'public'`
  expect(await query(one, tables)).toEqual([{ count: 1 }])
  expect(await query(other, tables)).toEqual([{ count: 0 }])
  expect(await query(other, 'select current_database() as name')).toEqual([{ name: 'a "name"' }])
  const names = `'listen_addresses', 'max_connections', 'fsync', 'synchronous_commit', 'full_page_writes'`
  const settings = `select name, setting from pg_settings where name in (${names}) order by name`
  expect(await query(one, settings)).toEqual([
    { name: 'fsync', setting: 'off' },
    { name: 'full_page_writes', setting: 'off' },
    { name: 'listen_addresses', setting: '127.0.0.1' },
    { name: 'max_connections', setting: '200' },
    { name: 'synchronous_commit', setting: 'off' },
  ])
  await postgres.stop()
  await expect.poll(() => existsSync(postgres.dataDir), { timeout: 30_000 }).toBe(false)
  await expect(query(one, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

test('[T1] a durable PostgreSQL keeps committed rows when all its processes are killed', async () => {
  const postgres = await start({ durable: true })
  const url = await postgres.createDatabase()
  await query(url, 'create table thing (id int)')
  await query(url, 'insert into thing select generate_series(1, 1000)')
  const killed = postgres.pid
  const session = await openSession(url)
  await postgres.kill()
  await expect(session.error).resolves.toBeInstanceOf(Error)
  await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  expect(() => process.kill(killed, 0)).toThrow('ESRCH')

  await postgres.restart()
  expect(postgres.pid).not.toBe(killed)
  expect(await query(url, 'select count(*)::int as count from thing')).toEqual([{ count: 1000 }])
  expect(await query(url, 'show fsync')).toEqual([{ fsync: 'on' }])
})

test('[T1] a PostgreSQL that stops keeps the folder it was given, and the next PostgreSQL on that folder has the same data', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-given-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const first = await start({ dataDir })
  await query(await first.createDatabase('kept'), 'create table thing as select 1 as id')
  await first.restart()
  await first.stop()
  await expect(first.restart()).rejects.toThrow('stopped for good')

  const second = await start({ dataDir })
  const url = new URL(second.url)
  url.pathname = '/kept'
  expect(await query(url.href, 'select id from thing')).toEqual([{ id: 1 }])
})

test('[T1] tests use the server of TEST_POSTGRES_URL instead of starting one', async () => {
  const { url } = await postgresForTests()
  vi.stubEnv('TEST_POSTGRES_URL', url)
  const given = await givenOrStarted()
  expect(given).toMatchObject({ url })
  expect(given.kill).toBeUndefined()
  expect(await query(await given.createDatabase(), 'select 1 as one')).toEqual([{ one: 1 }])
  await given.stop()
  expect(await query(await createDatabase(url), 'select 1 as one')).toEqual([{ one: 1 }])
})

test('[T1] if the server of TEST_POSTGRES_URL does not answer, the tests fail with a message that names the variable', async () => {
  const postgres = await start()
  await postgres.stop()
  vi.stubEnv('TEST_POSTGRES_URL', postgres.url)
  await expect(givenOrStarted()).rejects.toThrow('TEST_POSTGRES_URL does not answer')
})

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  '[T1] when postgres.ts runs as a program and is ended with %s, its PostgreSQL stops and the data folder is removed',
  async (signal) => {
    const args = ['--import', 'tsx', 'packages/server/test/support/services/postgres.ts']
    const program = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(program, 'exit')
    onTestFinished(() => void program.kill('SIGKILL'))
    const lines: string[] = []
    for await (const line of createInterface(program.stdout)) {
      lines.push(line)
      if (lines.length === 2) break
    }
    const [url = ''] = lines
    const [{ dataDir }] = (await query(
      url,
      'select setting as "dataDir" from pg_settings where name = \'data_directory\'',
    )) as [{ dataDir: string }]
    expect(existsSync(dataDir)).toBe(true)
    program.kill(signal)
    expect(await ended).toEqual(signal === 'SIGKILL' ? [null, 'SIGKILL'] : [0, null])
    await expect.poll(() => existsSync(dataDir)).toBe(false)
    await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  },
)
