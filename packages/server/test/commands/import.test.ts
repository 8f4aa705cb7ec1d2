import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { seed } from '../support/data/large-data.ts'
import { addEvents } from '../support/data/stored-events.ts'
import { runCommand, startCommand } from '../support/processes/process.ts'
import { newTenant } from '../support/processes/tenant.ts'
import {
  allRows,
  filledServer,
  newInstallation,
  withDatabase,
  workspaceRows,
} from '../support/data/transfers.ts'

/** How many rows of the table an embedded database has. */
function countRows(dataDir: string, table: string): number {
  const db = new DatabaseSync(join(dataDir, 'plenum.db'))
  const { count } = db.prepare(`select count(*) as count from ${table}`).get() as { count: number }
  db.close()
  return count
}

test('[D10] [D10.2] an import that is killed beside a running server is continued, and the server answers meanwhile', async () => {
  const { tenant, data, settings } = await filledServer('sqlite')
  await withDatabase(data, async (database) => {
    await seed(database, tenant.apiKey, 'org_t').documents(10_000)
    // More than one page of an export.
    const payloads = Array.from({ length: 2500 }, (_, number) => ({ number }))
    await database.write((db) => addEvents(db, tenant.apiKey, payloads))
  })
  const folder = newFolder()
  const [file, later] = [join(folder, 'workspace.jsonl'), join(folder, 'later.jsonl')]
  for (const to of [file, later])
    await runCommand(['export', '--workspace', tenant.workspaceId, '--to', to], settings)

  const target = await newInstallation('sqlite')
  const other = await newTenant(target.settings, target.server.url)
  const child = await startCommand(['import', '--from', file], target.settings)
  const ended = once(child, 'exit')
  await expect
    .poll(() => countRows(target.data.dataDir, 'documents'), { timeout: 30_000 })
    .toBeGreaterThan(1000)
  child.kill('SIGKILL')
  await ended
  expect(countRows(target.data.dataDir, 'documents')).toBeLessThan(10_000)
  expect(await runCommand(['import', '--from', later], target.settings)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('An import of another export'),
  })

  let writes = 0
  let isDone = false
  const repeated = runCommand(['import', '--from', file], target.settings).finally(() => (isDone = true))
  while (!isDone) {
    await other.client.organizations.add({ organizations: [{ organizationId: `o${writes++}` }] })
  }
  expect(await repeated).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Continuing an import that was interrupted'),
  })
  // Without pauses between the transactions of the import, hardly any write gets a turn.
  expect(writes).toBeGreaterThan(20)
  await target.server.terminate()
  expect(await workspaceRows(target.data, tenant)).toEqual(await workspaceRows(data, tenant))

  const again = await runCommand(['import', '--from', file], target.settings)
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
})

test('[D10.1] a file that is truncated, changed, of another schema or workspace is refused, and nothing changes', async () => {
  const { tenant, settings } = await filledServer('sqlite')
  const file = join(newFolder(), 'workspace.jsonl')
  await runCommand(['export', '--workspace', tenant.workspaceId, '--to', file], settings)
  const target = await newInstallation('postgres')
  const other = await newTenant(target.settings, target.server.url)
  await target.server.terminate()
  const before = await allRows(target.data)

  const text = readFileSync(file, 'utf8')
  const lines = text.trimEnd().split('\n')
  /** The same file with other lines and the checksum of these lines. */
  const forged = (change: (line: string) => string) => {
    const changed = lines.slice(0, -1).map((line) => `${change(line)}\n`)
    const { end } = JSON.parse(lines.at(-1) ?? '')
    const sha256 = createHash('sha256').update(changed.join('')).digest('hex')
    return `${changed.join('')}${JSON.stringify({ end: { ...end, sha256 } })}\n`
  }
  const attempts: [string | Buffer, string][] = [
    [text.slice(0, text.length / 2), 'it is truncated'],
    [`${lines.slice(0, -1).join('\n')}\n`, 'it is truncated'],
    [gzipSync(text).subarray(0, 2000), 'it is truncated'],
    [text.replace('Before', 'Behind'), 'it was changed or damaged'],
    ['a file\n', 'it is not an export'],
    ['', 'it is truncated'],
    [forged((line) => line.replace('"version":1', '"version":2')), 'its format has the version 2'],
    [
      forged((line) => line.replace(/"schema":"[\w-]+"/, '"schema":"9999-later"')),
      'with the schema 9999-later',
    ],
    [
      forged((line) => (line.includes('"comments"') ? line.replaceAll(tenant.apiKey, other.apiKey) : line)),
      'is a row of another workspace',
    ],
    [
      forged((line) => line.replace('"table":"comments"', '"table":"signing_keys"')),
      'is not a row of a table',
    ],
    [forged((line) => line.replace(/"event_seq":\d+/, '"event_seq":"1"')), 'has a wrong value in event_seq'],
    [
      forged((line) =>
        line.replace('"table":"organizations","row":{', '"table":"organizations","row":{"x":1,'),
      ),
      'has an unknown column x',
    ],
  ]
  for (const [content, reason] of attempts) {
    const attempt = join(newFolder(), 'attempt.jsonl')
    writeFileSync(attempt, content)
    const { code, stderr } = await runCommand(['import', '--from', attempt], target.settings)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) })
  }
  expect(await allRows(target.data)).toEqual(before)
})
