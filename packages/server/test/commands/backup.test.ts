import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Client } from '@plenum/client'
import { expect, test } from 'vitest'
import { interruptibleNetwork, plenumConnection } from '../support/clients/plenum-client.ts'
import { newFolder } from '../support/data/folders.ts'
import * as given from '../support/given.ts'
import { runCommand, startProcess } from '../support/processes/process.ts'
import { freePort } from '../support/services/postgres.ts'
import { newSettings, startWith } from '../support/processes/settings.ts'
import { newTenant } from '../support/processes/tenant.ts'

const documentsPerWrite = 5

/** Adds an organization with documents in each transaction, without pause, until `stop` is called. */
function writeWithoutPause(client: Client, writers = 4) {
  const answered: string[] = []
  let next = 0
  let isRunning = true
  const done = Promise.all(
    Array.from({ length: writers }, async () => {
      while (isRunning) {
        const organizationId = `org-${next++}`
        const documents = Array.from({ length: documentsPerWrite }, (_, n) => ({ documentId: `doc-${n}` }))
        await client.documents.add({ organizationId, createOrganization: true, documents })
        answered.push(organizationId)
      }
    }),
  )
  return {
    answered,
    async stop() {
      isRunning = false
      await done
    },
  }
}

/** How many documents each organization of the database has. */
function documentCounts(file: string): Map<string, number> {
  const db = new DatabaseSync(file)
  const rows = db
    .prepare('select organization_id as id, count(*) as count from documents group by 1')
    .all() as { id: string; count: number }[]
  db.close()
  return new Map(rows.map(({ id, count }) => [id, count]))
}

test('[D3] [D3.1] a backup during writes has everything that was answered before, and whole transactions only', async () => {
  const settings = await newSettings('sqlite')
  const server = await startWith(settings)
  const { client } = await given.tenant(server)
  const writing = writeWithoutPause(client)
  await expect.poll(() => writing.answered.length).toBeGreaterThan(50)

  const file = join(newFolder(), 'backup.db')
  const before = [...writing.answered]
  const made = await runCommand(['backup', '--to', file], settings)
  const during = writing.answered.length - before.length
  await writing.stop()

  expect(made).toMatchObject({ code: 0, stdout: `${file}\n` })
  expect(during).toBeGreaterThan(0)
  const counts = documentCounts(file)
  expect(before.filter((id) => counts.get(id) !== documentsPerWrite)).toEqual([])
  expect([...counts.values()].every((count) => count === documentsPerWrite)).toBe(true)

  const again = await runCommand(['backup', '--to', file], settings)
  expect(again).toMatchObject({
    code: 1,
    stderr: `plenum backup: ${file} exists already. Choose another name.\n`,
  })
  const running = await runCommand(['restore', '--from', file, '--replace'], settings)
  expect(running.code).toBe(1)
  expect(running.stderr).toMatch(/in use by a server/)

  // A new machine, with a copy of the secret.
  await server.end()
  const other = await newSettings('sqlite')
  copyFileSync(join(settings.DATA_DIR ?? '', 'secret.key'), join(other.DATA_DIR ?? '', 'secret.key'))
  expect(await runCommand(['restore', '--from', file], other)).toMatchObject({ code: 0 })
  const restored = await startWith({ ...other, PORT: new URL(server.url).port })
  const [last = ''] = before.slice(-1)
  expect((await client.documents.get({ organizationId: last })).data).toBeTruthy()
  await restored.end()
})

test('[D3.2] [D4] the secret is copied only on request, and replaced data is kept', async () => {
  const settings = await newSettings('sqlite')
  const server = await startWith(settings)
  await given.tenant(server)
  await server.end()
  const folder = newFolder()
  await runCommand(['backup', '--to', folder], settings)
  const [plain = ''] = readdirSync(folder)
  expect(readdirSync(folder)).toEqual([plain])
  for (const to of ['missing/folder/', 'missing/folder', 'missing/backup.db']) {
    const { code, stderr } = await runCommand(['backup', '--to', join(folder, to)], settings)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(` ${join(folder, 'missing')}`),
    })
    expect(stderr).toContain('does not exist')
  }
  expect(readdirSync(folder)).toEqual([plain])

  const file = join(folder, 'with-secret.db')
  await runCommand(['backup', '--to', file, '--with-secret'], settings)
  for (const made of [file, `${file}.secret.key`]) expect(statSync(made).mode & 0o777).toBe(0o600)

  const other = await newSettings('sqlite')
  const without = await runCommand(['restore', '--from', file], other)
  expect(without.stderr).toContain('its secret is missing')
  expect(existsSync(join(other.DATA_DIR ?? '', 'plenum.db'))).toBe(false)
  expect(await runCommand(['restore', '--from', file, '--with-secret'], other)).toMatchObject({ code: 0 })

  const refused = await runCommand(['restore', '--from', file], other)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain('Add --replace')
  const replaced = await runCommand(['restore', '--from', file, '--replace'], other)
  const [, kept = ''] = /The replaced database is kept in (\S+)\.\n/.exec(replaced.stderr) ?? []
  expect(documentCounts(kept)).toEqual(new Map())
})

test('[D4.1] a backup that is damaged, changed, too new or of another secret is refused, and nothing changes', async () => {
  const settings = await newSettings('sqlite')
  const server = await startProcess('server', settings)
  const { client } = await newTenant(settings, server.url)
  await client.documents.add({
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'plan', documentName: 'A name that is in the file' }],
  })
  await server.terminate()
  const good = join(newFolder(), 'good.db')
  await runCommand(['backup', '--to', good], settings)
  const data = join(settings.DATA_DIR ?? '', 'plenum.db')
  const before = readFileSync(data)

  const changed = (change: (bytes: Buffer) => Buffer) => {
    const file = join(newFolder(), 'changed.db')
    writeFileSync(file, change(readFileSync(good)))
    return file
  }
  const altered = (sql: string) => {
    const file = changed((bytes) => bytes)
    const db = new DatabaseSync(file)
    db.exec(sql)
    db.close()
    return file
  }
  const attempts: [string, string, Record<string, string>?][] = [
    [changed((bytes) => bytes.subarray(0, bytes.length / 2)), 'it is damaged'],
    [changed((bytes) => bytes.fill(0xff, 8192, 12_288)), 'it is damaged'],
    [
      changed((bytes) => bytes.fill('B', bytes.indexOf('A name that'), bytes.indexOf('A name that') + 1)),
      'documents',
    ],
    [altered(`update documents set created_at = created_at + 1`), 'it was changed or damaged (documents)'],
    [
      altered(`drop table backup_digests; insert into kysely_migration values ('9999-later', '')`),
      'newer version',
    ],
    [changed(() => Buffer.from('not a database')), 'it is damaged'],
    [good, 'SECRET_KEY does not match', { SECRET_KEY: 'another secret key of at least 32 letters' }],
  ]
  for (const [from, reason, more] of attempts) {
    const { code, stderr } = await runCommand(['restore', '--from', from, '--replace'], {
      ...settings,
      ...more,
    })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) })
  }
  expect(readFileSync(data).equals(before)).toBe(true)
  expect(readdirSync(settings.DATA_DIR ?? '').sort()).toEqual(['plenum.db', 'secret.key', 'server.lock'])
})

test('[D4.2] a client that has seen more than the backup contains gets the restored values, and no event is missed', async () => {
  const settings = { ...(await newSettings('sqlite')), PORT: String(await freePort()) }
  const server = await startWith(settings)
  const { client } = await given.tenant(server)
  const document = { organizationId: 'acme', documentId: 'plan' }
  const set = (liveStateDataId: string, data: object) =>
    client.liveState.broadcast({ ...document, liveStateDataId, data: { ...data } })
  const addThread = (commentText: string) =>
    client.commentAnnotations.add({
      ...document,
      commentAnnotations: [{ commentData: [{ commentText, from: { userId: 'ada' } }] }],
    })

  await set('a', { value: 'in the backup' })
  await addThread('in the backup')
  const token = await runCommand(['token', '--organization', 'acme'], settings)
  const network = interruptibleNetwork()
  const live = plenumConnection(client, token.stdout.trim(), { WebSocket: network.WebSocket })
  const opened = live.document('acme', 'plan')
  await expect.poll(() => opened.liveState('a').value).toEqual({ value: 'in the backup' })
  const file = join(newFolder(), 'backup.db')
  await runCommand(['backup', '--to', file], settings)

  await set('a', { value: 'lost' })
  await expect.poll(() => opened.liveState('a').value).toEqual({ value: 'lost' })
  await addThread('lost')
  const { after } = (await client.events.get()).data
  network.cut()
  await server.end()
  await runCommand(['restore', '--from', file, '--replace'], settings)
  await startWith(settings)
  // As many changes as the client has seen, and more.
  for (let n = 0; n < 5; n++) await set('b', { n })
  for (let n = 0; n < 3; n++) await addThread(`new ${n}`)

  network.restore(live)
  await expect.poll(() => opened.liveState('b').value).toEqual({ n: 4 })
  expect(opened.liveState('a').value).toEqual({ value: 'in the backup' })
  const later = await client.events.get({ after, names: ['comment.add', 'comment_annotation.add'] })
  expect(new Set(JSON.stringify(later.data).match(/new \d/g))).toEqual(new Set(['new 0', 'new 1', 'new 2']))
})

test('[D4.3] with PostgreSQL, backup and restore name the command to use', async () => {
  const settings = { DATABASE_URL: 'postgres://127.0.0.1:1/none', SECRET_KEY: 'x'.repeat(32) }
  const backup = await runCommand(['backup', '--to', '/tmp/x'], settings)
  expect(backup).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_dump --format=custom') })
  const restore = await runCommand(['restore', '--from', '/tmp/x'], settings)
  expect(restore).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_restore') })
})
