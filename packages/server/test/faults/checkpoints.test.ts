import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { Checkpoints } from '../../src/store/engine/checkpoints.ts'
import type { Database } from '../../src/store/engine/db.ts'
import { openDatabase } from '../../src/store/engine/open.ts'
import * as workspaces from '../../src/store/workspaces.ts'
import { SteppedClock } from '../support/clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-checkpoints-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addWorkspace = (database: Database, workspaceId: string, bytes: number) =>
  database.write((db) =>
    workspaces.add(
      db,
      {
        workspaceId,
        name: 'W',
        owner: { email: 'o@example.com', id: 'o', name: 'O'.repeat(bytes), avatar: '' },
        token: { tokenId: 't', issuedAt: 1 },
      },
      1,
    ),
  )

test('[P3] a checkpoint thread that cannot copy the log is reported and replaced, and blocks no caller', async () => {
  const failures: unknown[] = []
  const checkpoints = new Checkpoints({
    file: join(folder, 'no such folder', 'plenum.db'),
    logFrames: () => 0,
    withoutWriters: (work) => work(),
    leaveSnapshots: () => {},
    onFailure: (error) => failures.push(error),
  })
  for (const round of [1, 2]) {
    checkpoints.committed()
    await checkpoints.run()
    expect(failures.length).toBeGreaterThanOrEqual(round)
  }
  await checkpoints.close()
})

test('[P3] after a failed copy and a successful one, writes wait again when the log is too large', async () => {
  const dataDir = join(folder, 'later')
  const file = join(dataDir, 'plenum.db')
  let frames = 1
  const clock = new SteppedClock()
  const failures: unknown[] = []
  const checkpoints = new Checkpoints({
    file,
    logFrames: () => frames,
    withoutWriters: (work) => work(),
    leaveSnapshots: () => {},
    onFailure: (error) => failures.push(error),
    clock,
  })
  checkpoints.committed()
  await checkpoints.run()
  expect(failures.length).toBeGreaterThan(0)
  mkdirSync(dataDir)
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; create table t (x)')
  await checkpoints.run()
  frames = 10_000
  // The log is not measured after every commit.
  clock.step(20)
  checkpoints.committed()
  expect(checkpoints.beforeWrite()).toBeDefined()
  await checkpoints.close()
  database.close()
})

test('[P3] the log is copied and restarted, so it does not grow with the number of writes', async () => {
  const dataDir = join(folder, 'few')
  const database = await openDatabase({ dataDir, durability: 'relaxed', poolSize: 1 })
  const write = (id: number) => addWorkspace(database, `w${id}`, 1000)
  const log = join(dataDir, 'plenum.db-wal')
  let id = 0
  const growth = async () => {
    const size = statSync(log).size
    for (const end = id + 100; id < end; id++) await write(id)
    return statSync(log).size - size
  }
  expect(await growth()).toBeGreaterThan(100_000)
  // The log grows in every round until a copy is complete.
  await expect.poll(growth, { timeout: 30_000, interval: 500 }).toBe(0)
  await database.close()
})

test('[P3] the log restarts even if a read transaction of the server is open when the copy begins', async () => {
  const file = join(mkdtempSync(join(folder, 'reader-')), 'plenum.db')
  const writer = new DatabaseSync(file)
  writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t (x)')
  const reader = new DatabaseSync(file)
  reader.exec('begin')
  reader.prepare('select * from t').all()
  writer.exec('insert into t values (1)')
  const checkpoints = new Checkpoints({
    file,
    logFrames: () => 10_000,
    withoutWriters: (work) => work(),
    leaveSnapshots: () => {
      if (reader.isTransaction) reader.exec('commit')
    },
  })
  checkpoints.committed()
  await checkpoints.beforeWrite()
  writer.exec('insert into t values (2)')
  expect(writer.prepare('pragma wal_checkpoint(noop)').get()).toMatchObject({ log: 1 })
  await checkpoints.close()
  for (const database of [reader, writer]) database.close()
})

const MiB = 1024 * 1024

describe('[P3] the log under load', () => {
  /** Writes 160 MiB from several concurrent callers. Returns the largest size of the log. */
  async function writeMuch(database: Database, log: string): Promise<number> {
    let largest = 0
    let next = 0
    const writer = async () => {
      for (let id = next++; id < 640; id = next++) {
        await addWorkspace(database, `w${id}`, MiB / 4)
        largest = Math.max(largest, statSync(log).size)
      }
    }
    await Promise.all(Array.from({ length: 8 }, writer))
    return largest
  }

  test('[P3] the log stays below 64 MiB under writers and readers that never pause', async () => {
    const dataDir = join(folder, 'many')
    const database = await openDatabase({ dataDir, durability: 'full', poolSize: 1 })
    let isReading = true
    const readers = Array.from({ length: 4 }, async () => {
      while (isReading) {
        await workspaces.isEmpty(database.read)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    expect(await writeMuch(database, join(dataDir, 'plenum.db-wal'))).toBeLessThan(64 * MiB)
    isReading = false
    await Promise.all(readers)
    await database.close()
  })

  test('[P3.1] while another program keeps a read transaction open, the log grows and blocks no writer, and later it shrinks', async () => {
    const dataDir = join(folder, 'read from outside')
    const database = await openDatabase({ dataDir, durability: 'full', poolSize: 1 })
    const outside = new DatabaseSync(join(dataDir, 'plenum.db'))
    outside.exec('begin')
    outside.prepare('select count(*) from workspaces').all()
    const log = join(dataDir, 'plenum.db-wal')
    expect(await writeMuch(database, log)).toBeGreaterThan(150 * MiB)
    outside.close()
    let id = 0
    // After a complete copy the log restarts, and SQLite cuts its file to 64 MiB.
    await expect
      .poll(() => addWorkspace(database, `later ${id++}`, 1).then(() => statSync(log).size), {
        timeout: 30_000,
      })
      .toBeLessThan(65 * MiB)
    await database.close()
  })
})
