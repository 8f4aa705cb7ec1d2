import { once } from 'node:events'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createClient } from '@plenum/client'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { newFolder } from '../support/data/folders.ts'
import {
  createEmptyPostgresDatabase,
  createPostgresDatabase,
  secretKey,
  startServer,
} from '../support/harness.ts'
import { seed } from '../support/data/large-data.ts'
import { runCommand, startCommand } from '../support/processes/process.ts'
import { startWith } from '../support/processes/settings.ts'
import { addThread, allRows, filledServer, withDatabase } from '../support/data/transfers.ts'

test('[D8] [D8.1] [D8.2] a server on PostgreSQL continues with everything that was copied', async () => {
  const { tenant, after, data, settings } = await filledServer('sqlite')
  const databaseUrl = await createEmptyPostgresDatabase()
  // Not its own folder: --from names the source.
  const { DATA_DIR: from, ...elsewhere } = settings
  const words = ['copy', '--from', from as string, '--to', databaseUrl]
  const copied = await runCommand(words, { ...elsewhere, DATA_DIR: newFolder() })
  expect(copied).toMatchObject({ code: 0, stdout: '' })
  const rows = /^\d+ rows in \d+ tables(?=, compared)/m.exec(copied.stderr)?.[0]
  const backup = await runCommand(['backup', '--to', newFolder()], settings)
  expect(backup.stderr).toContain(`${rows}, and `)
  expect(copied.stderr).not.toContain(secretKey)

  const { signals, ...source } = await allRows(data)
  const target = { dataDir: newFolder(), databaseUrl }
  expect(signals).toHaveLength(1)
  expect(await allRows(target)).toEqual({ ...source, signals: [] })

  const again = await runCommand(['copy', '--to', databaseUrl], settings)
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('compared') })

  const server = await startServer('postgres', { isAlone: true, data: target })
  const { apiKey, authToken } = tenant
  const client = createClient({ url: server.url, apiKey, authToken })
  const { token } = (
    await client.auth.generateToken({
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      permissions: { resources: [{ type: 'organization', id: 'org_t' }] },
    })
  ).data
  const document = plenumConnection(client, token).document('org_t', 'doc_t')
  const editor = document.editor('note', { type: 'text' })
  await expect.poll(() => editor.doc.getText('content').toString()).toBe('Hello')
  await addThread({ ...tenant, client }, 'After')
  const { events } = (await client.events.get({ after, names: ['comment_annotation.add'] })).data
  expect(events).toHaveLength(1)
  expect(JSON.stringify(events)).toContain('After')
  const threads = (await client.commentAnnotations.get({ organizationId: 'org_t', documentIds: ['doc_t'] }))
    .data
  expect(JSON.stringify(threads)).toContain('Before')
  await server.stop()
})

test('[D8.1] a copy that is killed leaves nothing, and can be repeated', { retry: 0 }, async () => {
  const { tenant, data, settings } = await filledServer('sqlite')
  await withDatabase(data, async (database) => {
    const rows = seed(database, tenant.apiKey, 'org_t')
    await rows.documents(20_000)
    // More than a page, with ids that sort before that of the folder that contains them.
    await rows.folders(1100, 'z', 'b')
  })
  const databaseUrl = await createPostgresDatabase()
  const target = { dataDir: newFolder(), databaseUrl }
  const observer = new pg.Client({ connectionString: databaseUrl })
  await observer.connect()
  const size = async () =>
    (await observer.query(`select pg_relation_size('documents')::int as bytes`)).rows[0].bytes
  const child = await startCommand(['copy', '--to', databaseUrl], settings)
  // The table grows before the transaction commits.
  await expect.poll(size, { timeout: 30_000, interval: 10 }).toBeGreaterThan(1_000_000)
  child.kill('SIGKILL')
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  await observer.end()
  expect((await allRows(target)).documents).toEqual([])
  expect(await runCommand(['copy', '--to', databaseUrl], settings)).toMatchObject({ code: 0 })
  const [copied, source] = [await allRows(target), await allRows(data)]
  expect([copied.documents, copied.folders]).toEqual([source.documents, source.folders])
})

test('[D8.1] a target that differs, that servers use, that has other tables, or that is no PostgreSQL is refused, and stays as it is', async () => {
  const { data, settings } = await filledServer('sqlite')
  const databaseUrl = await createPostgresDatabase()
  const copy = (...words: string[]) => runCommand(['copy', ...words], settings)
  expect(await copy('--to', databaseUrl)).toMatchObject({ code: 0 })
  const target = { dataDir: newFolder(), databaseUrl }
  await withDatabase(target, ({ write }) =>
    write((db) => sql`update comments set data = replace(data, 'Before', 'Behind')`.execute(db)),
  )
  const before = await allRows(target)
  const changed = await copy('--to', databaseUrl)
  expect(changed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('differs from the embedded database in comments.'),
  })
  expect(await allRows(target)).toEqual(before)

  const used = { ...settings, DATABASE_URL: await createEmptyPostgresDatabase() }
  const server = await startWith(used)
  expect(await copy('--to', used.DATABASE_URL)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Stop all servers first'),
  })
  await server.end()
  // The server has left its signing key.
  expect(await copy('--to', used.DATABASE_URL)).toMatchObject({ code: 0 })

  const foreign = { dataDir: newFolder(), databaseUrl: await createEmptyPostgresDatabase() }
  const shop = new pg.Client({ connectionString: foreign.databaseUrl })
  await shop.connect()
  await shop.query('create table orders (id int)')
  expect(await copy('--to', foreign.databaseUrl)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has tables of another program: orders.'),
  })
  const catalog = `select array_agg(tablename::text) as names from pg_tables where schemaname = 'public'`
  expect((await shop.query(catalog)).rows).toEqual([{ names: ['orders'] }])
  await shop.end()

  expect(await copy()).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') })
  expect(await copy('--to', './data')).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') })
  expect(await copy('--from', newFolder(), '--to', databaseUrl)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no embedded database'),
  })
  const running = await startServer('sqlite', { data })
  expect(await copy('--to', databaseUrl)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('in use by a server'),
  })
  await running.stop()
})
