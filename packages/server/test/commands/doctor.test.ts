import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { stores } from '../support/harness.ts'
import { runCommand, startProcess } from '../support/processes/process.ts'
import { newSettings, startWith } from '../support/processes/settings.ts'
import { mountSmallDisk } from '../support/faults/small-disk.ts'

interface Report {
  isHealthy: boolean
  checks: { check: string; status: string; message: string; advice?: string }[]
}

async function diagnose(settings: Record<string, string>) {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json'], settings)
  const { isHealthy, checks } = JSON.parse(stdout) as Report
  expect(code).toBe(isHealthy ? 0 : 1)
  const about = (name: string) => checks.filter(({ check }) => check === name)
  return {
    isHealthy,
    about,
    failed: checks.filter(({ status }) => status === 'failed'),
    output: stdout + stderr,
  }
}

describe.each(stores)('[D5] doctor on %s', (store) => {
  test('[D5] [D5.1] doctor finds nothing wrong before the first start and beside a running server', async () => {
    const settings = await newSettings(store)
    const before = await diagnose({ ...settings, DATA_DIR: join(newFolder(), 'missing'), PORT: '0' })
    expect(before.failed).toEqual([])
    const { url } = await startWith(settings)
    const { port } = new URL(url)
    const beside = await diagnose({ ...settings, PORT: port })
    expect(beside.failed).toEqual([])
    expect(beside.about('port')).toMatchObject([{ message: `a Plenum server answers on ${port}` }])
    expect(beside.about('schema')).toMatchObject([{ status: 'ok' }])
    expect(beside.about('secret')).toMatchObject([{ status: 'ok' }])
    expect(beside.about('secrets')).toEqual([])
    // The PostgreSQL of these tests does not sync.
    expect(beside.about('durability')).toHaveLength(store === 'sqlite' ? 0 : 1)
    expect(beside.about('clock')).toHaveLength(store === 'sqlite' ? 0 : 1)

    const other = await diagnose({ ...settings, PORT: port, SECRET_KEY: 'canary of at least 32 characters' })
    expect(other.failed).toMatchObject([{ check: 'secret' }])
    expect(other.output).not.toContain('canary')
  })
})

test('[D5] doctor reports a damaged database, files that others can read, and a port that another program uses', async () => {
  const settings = await newSettings('sqlite')
  const data = settings.DATA_DIR ?? ''
  const server = await startProcess('server', settings)
  await server.terminate()
  chmodSync(data, 0o755)
  chmodSync(join(data, 'secret.key'), 0o644)
  const file = join(data, 'plenum.db')
  // Closing the only connection copies the log into the file.
  const db = new DatabaseSync(file)
  db.exec('select 1 from workspaces')
  db.close()
  writeFileSync(file, readFileSync(file).fill(0xff, 8192, 20_480))
  const other = createServer((socket) => socket.end('nonsense\r\n\r\n')).listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }

  const found = await diagnose({ ...settings, PORT: String(port) })
  expect(found.failed).toMatchObject([
    { check: 'database', message: expect.stringMatching(/damaged|malformed/) },
    { check: 'port', message: `another program uses ${port} on 127.0.0.1` },
  ])
  expect(found.about('secrets').map(({ message }) => message)).toContainEqual(
    expect.stringContaining('can read'),
  )
})

test('[D5] doctor reports data from the future, which a wrong clock of this machine explains', async () => {
  const settings = await newSettings('sqlite')
  const server = await startWith(settings)
  await server.end()
  const db = new DatabaseSync(join(settings.DATA_DIR ?? '', 'plenum.db'))
  db.exec(`update signing_keys set created_at = ${Date.UTC(2100, 0)}`)
  db.close()
  const { failed } = await diagnose({ ...settings, PORT: '0' })
  expect(failed).toMatchObject([
    {
      check: 'clock',
      message: expect.stringContaining('2100-01-01'),
      advice: 'Set the clock of this machine.',
    },
  ])
})

test('[D5] doctor reports a disk that is almost full', async ({ skip }) => {
  const disk = mountSmallDisk()
  if (typeof disk === 'string') return skip(disk)
  onTestFinished(disk.unmount)
  const { failed } = await diagnose({ DATA_DIR: join(disk.folder, 'data'), PORT: '0' })
  expect(failed).toMatchObject([{ check: 'disk', message: expect.stringMatching(/^\d MiB are free/) }])
})

test('[D5] [D5.1] doctor reports services that do not answer, each on one line, without their passwords', async () => {
  const settings = {
    DATABASE_URL: 'postgres://user:canary@127.0.0.1:1/plenum',
    SECRET_KEY: 'canary of at least 32 characters',
    REDIS_URL: 'redis://:canary@127.0.0.1:1',
    SMTP_URL: 'smtp://user:canary@127.0.0.1:1',
    MAIL_FROM: 'plenum@example.com',
    PORT: '0',
  }
  const { code, stdout, stderr } = await runCommand(['doctor'], settings)
  expect(code).toBe(1)
  expect(stdout.match(/^failed +\w+/gm)?.map((line) => line.split(/ +/)[1])).toEqual([
    'database',
    'redis',
    'mail',
  ])
  expect(stdout + stderr).not.toContain('canary')
})

test('[D5] doctor reports invalid settings', async () => {
  const { failed, about } = await diagnose({ PORT: 'x', LOG_LEVEL: 'loud', DATA_DRI: '.' })
  expect(failed.map(({ message }) => message.split(' ')[0])).toEqual(['PORT', 'LOG_LEVEL'])
  expect(about('settings')[0]).toMatchObject({ status: 'warning' })
})
