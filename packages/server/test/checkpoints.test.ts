import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Checkpoints } from '../src/store/checkpoints.ts'
import { openDatabase } from '../src/store/db.ts'
import * as workspaces from '../src/store/workspaces.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-checkpoints-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('[P2] a thread that cannot copy is told of, replaced, and hangs nobody', async () => {
  const failures: unknown[] = []
  const checkpoints = new Checkpoints(
    join(folder, 'no such folder', 'plenum.db'),
    (work) => work(),
    (error) => failures.push(error),
  )
  for (const round of [1, 2]) {
    checkpoints.touch()
    await checkpoints.run()
    expect(failures.length).toBeGreaterThanOrEqual(round)
  }
  await checkpoints.close()
})

test('[P2] the log is copied and begins anew, so it does not grow with the number of writes', async () => {
  const database = await openDatabase({ dataDir: folder, durability: 'relaxed', poolSize: 1 })
  const owner = { email: 'o@example.com', id: 'o', name: 'O'.repeat(1000), avatar: '' }
  const write = (id: number) =>
    database.write((db) =>
      workspaces.add(
        db,
        { workspaceId: `w${id}`, name: 'W', owner, token: { tokenId: 't', issuedAt: 1 } },
        1,
      ),
    )
  const log = join(folder, 'plenum.db-wal')
  let id = 0
  for (; id < 200; id++) await write(id)
  await expect
    .poll(() => statSync(join(folder, 'plenum.db')).size, { timeout: 30_000 })
    .toBeGreaterThan(200_000)
  const size = statSync(log).size
  for (; id < 300; id++) await write(id)
  expect(statSync(log).size).toBe(size)
  await database.close()
})
