import type { ApiError } from '@plenum/protocol/errors'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { appendUpdates, storedLog } from '../../support/data/editors.ts'

const refused = (message: string, status = 'INVALID_ARGUMENT', code = 400) => ({
  status: code,
  body: { error: { status, message } },
})
const unreadable = (details: unknown) => ({
  status: 500,
  body: { error: { status: 'INTERNAL', message: 'The stored CRDT data cannot be read.', details } },
})

describe.each(stores)('crdt storage on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const document = { organizationId: 'o1', documentId: 'd1' }
  const editorRef = { ...document, editorId: 'e1' }
  const text = (data: string, editorId = 'e1') => ({ ...document, editorId, data, type: 'text' as const })

  const call = ({ headers }: given.Tenant, verb: string, data: unknown) =>
    server.post(`/v2/crdt/${verb}`, { data }, headers)
  const stored = async (tenant: given.Tenant, editorId = 'e1') =>
    (await storedLog(server, tenant, { ...document, editorId }))!
  /** Returns the last number of the log, the number of its updates, and whether the log is complete. */
  const length = async (tenant: given.Tenant) => {
    const { seq, updates, complete } = await stored(tenant)
    return { seq, updates: updates.length, complete }
  }
  const content = async ({ client }: given.Tenant, editorId = 'e1') =>
    (await client.crdt.get({ ...document, editorId })).data[0]?.data
  const overwrite = ({ apiKey }: given.Tenant, editorId: string, seq: number, bytes: Uint8Array) =>
    server.database.write((db) =>
      db
        .updateTable('editor_updates')
        .set({ bytes })
        .where('api_key', '=', apiKey)
        .where('editor_id', '=', editorId)
        .where('seq', '=', seq)
        .execute(),
    )

  test('[17.1] one of several concurrent calls that add the same editor succeeds', async () => {
    const tenant = await given.tenant(server)
    const client = server.client({ ...tenant, retries: 5 })
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => client.crdt.add(text(`content ${index}`))),
    )
    const statuses = all.map((one) =>
      one.status === 'rejected' ? (one.reason as ApiError).status : 'success',
    )
    expect(statuses.sort()).toEqual([...Array<string>(7).fill('ALREADY_EXISTS'), 'success'])
    expect(await content(tenant)).toMatch(/^content \d+$/)
    expect(await stored(tenant)).toMatchObject({ seq: 1, complete: true })
  })

  test('[17] [R7.1] a write over REST compacts a small editor with 31 updates into a snapshot', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('version 1'))
    const doc = new Y.Doc()
    doc.on('update', (update) => updates.push(update))
    const updates: Uint8Array[] = []
    for (let index = 0; index < 29; index++) doc.getMap('other').set('key', index)
    await appendUpdates(server, tenant, editorRef, updates)
    await tenant.client.crdt.update(text('version 2'))
    expect(await length(tenant)).toEqual({ seq: 31, updates: 31, complete: true })
    await tenant.client.crdt.update(text('version 3'))
    expect(await length(tenant)).toEqual({ seq: 32, updates: 0, complete: true })
    expect(await content(tenant)).toBe('version 3')
    await tenant.client.crdt.update(text('version 4'))
    expect(await length(tenant)).toEqual({ seq: 33, updates: 1, complete: true })
    expect(await content(tenant)).toBe('version 4')
  })

  // Both databases store large snapshots in `[17.2] reads during a compaction`.
  test.runIf(store === anyStore)(
    '[0.7.1] a body of add or update has at most 10 MiB, a body of get at most 1 MiB, and a log with much content is compacted',
    async () => {
      const tenant = await given.tenant(server)
      const large = 'é'.repeat(1024 * 1024)
      await tenant.client.crdt.add(text(large))
      expect(await length(tenant)).toEqual({ seq: 1, updates: 1, complete: true })
      expect(await content(tenant)).toBe(large)
      const larger = `${large}${'y'.repeat(7 * 1024 * 1024)}`
      await tenant.client.crdt.update(text(larger))
      // A large snapshot is written after the response.
      await expect.poll(() => length(tenant)).toEqual({ seq: 2, updates: 0, complete: true })
      expect(await content(tenant)).toBe(larger)
      await tenant.client.crdt.update(text('small'))
      expect(await content(tenant)).toBe('small')

      const tooLarge = (limit: string) =>
        refused(`Request body is too large. It must not have more than ${limit}.`, 'INVALID_ARGUMENT', 413)
      const tooLargeData = tooLarge('10485760 bytes (LIMIT_CRDT_BODY_BYTES)')
      const data = 'x'.repeat(10 * 1024 * 1024)
      expect(await call(tenant, 'add', text(data, 'e2'))).toMatchObject(tooLargeData)
      expect(await call(tenant, 'update', text(data))).toMatchObject(tooLargeData)
      const padding = 'x'.repeat(1024 * 1024)
      expect(await call(tenant, 'get', { ...document, padding })).toMatchObject(
        tooLarge('1048576 bytes (LIMIT_BODY_BYTES)'),
      )
      expect(await content(tenant)).toBe('small')
    },
  )

  test('[17.3] concurrent updates of one editor are stored under consecutive numbers, or fail with ABORTED', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add(text('first'))
    const contents = Array.from({ length: 10 }, (_, index) => `content ${index}`)
    const all = await Promise.allSettled(contents.map((data) => tenant.client.crdt.update(text(data))))
    const written = contents.filter((_, index) => all[index]?.status === 'fulfilled')
    for (const one of all)
      if (one.status === 'rejected') expect((one.reason as ApiError).status).toBe('ABORTED')
    expect(written.length).toBeGreaterThan(0)
    expect(written).toContain(await content(tenant))
    const rows = await server.database.read
      .selectFrom('editor_updates')
      .select('seq')
      .where('api_key', '=', tenant.apiKey)
      .orderBy('seq')
      .execute()
    expect(rows.map((row) => row.seq)).toEqual(
      Array.from({ length: written.length + 1 }, (_, index) => index + 1),
    )
    expect(await stored(tenant)).toMatchObject({ seq: written.length + 1, complete: true })
  })

  test('[17.2] reads during a compaction return the complete content', async () => {
    const tenant = await given.tenant(server)
    // Each version is larger than the snapshot of the previous one, so it triggers a new snapshot.
    const versions = Array.from('abcde', (letter, index) => letter.repeat(300_000 + index * 1000))
    await tenant.client.crdt.add(text(versions[0]!))
    const seen: Promise<unknown>[] = []
    for (const version of versions.slice(1)) {
      seen.push(content(tenant), content(tenant))
      await tenant.client.crdt.update(text(version))
      expect((await stored(tenant)).updates).toHaveLength(0)
    }
    for (const data of await Promise.all(seen)) expect(versions.includes(data as string)).toBe(true)
  })

  test('[17.2.4] the error of get names the damaged editors and contains the others, which stay readable and writable', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['e1', 'e2', 'e3']) await tenant.client.crdt.add(text(`in ${id}`, id))
    await overwrite(tenant, 'e2', 1, new Uint8Array([255, 255, 255, 7, 1, 2, 3]))
    const others = [
      { id: 'e1', data: 'in e1' },
      { id: 'e3', data: 'in e3' },
    ]
    expect(await call(tenant, 'get', document)).toMatchObject(
      unreadable({ unreadableEditorIds: ['e2'], data: others }),
    )
    expect(await call(tenant, 'get', { ...document, editorId: 'e2' })).toMatchObject(
      unreadable({ unreadableEditorIds: ['e2'], data: [] }),
    )
    expect(await call(tenant, 'update', text('x', 'e2'))).toMatchObject(
      unreadable({ unreadableEditorIds: ['e2'] }),
    )
    expect(await content(tenant, 'e1')).toBe('in e1')
    await tenant.client.crdt.update(text('new', 'e3'))
    expect(await content(tenant, 'e3')).toBe('new')
    expect(server.logged.join('')).toContain('cannot read stored CRDT data')
  })

  test('[17.2.4] get detects damage when an update is missing or refers to missing content', async () => {
    const tenant = await given.tenant(server)
    for (const id of ['gap', 'pending']) {
      await tenant.client.crdt.add(text('one', id))
      await tenant.client.crdt.update(text('one two', id))
    }
    await server.database.write((db) =>
      db
        .deleteFrom('editor_updates')
        .where('api_key', '=', tenant.apiKey)
        .where('editor_id', '=', 'gap')
        .where('seq', '=', 2)
        .execute(),
    )
    await overwrite(tenant, 'pending', 1, Y.encodeStateAsUpdate(new Y.Doc()))
    expect(await call(tenant, 'get', document)).toMatchObject(
      unreadable({ unreadableEditorIds: ['gap', 'pending'], data: [] }),
    )
  })

  // What follows from the bytes does not depend on the database that has stored them.
  test.runIf(store === anyStore)(
    '[17.2.4] get answers 200 or 500 for damaged data, whichever byte is wrong',
    async () => {
      const tenant = await given.tenant(server)
      await tenant.client.crdt.add({
        ...editorRef,
        type: 'map',
        data: { a: [1, { b: 'c' }], d: 'text', e: 1.5 },
      })
      const { bytes } = (await stored(tenant)).updates[0]!
      for (let index = 0; index < bytes.length; index++) {
        const damaged = Uint8Array.from(bytes)
        damaged[index]! ^= [1, 0x80, 0xff][index % 3]!
        await overwrite(tenant, 'e1', 1, damaged)
        expect([200, 500]).toContain((await call(tenant, 'get', editorRef)).status)
      }
      await overwrite(tenant, 'e1', 1, bytes)
      expect(await content(tenant)).toEqual({ a: [1, { b: 'c' }], d: 'text', e: 1.5 })
    },
  )

  test.runIf(store === anyStore)(
    '[17.2.5] a document too large for one answer is refused, and can be read editor by editor',
    async () => {
      const tenant = await given.tenant(server)
      const doc = new Y.Doc()
      doc.getText('content').insert(0, 'text')
      // Bytes that cost little to read, because the answer leaves them out.
      doc.getMap('other').set('bytes', new Uint8Array(9 * 1024 * 1024))
      const bytes = Y.encodeStateAsUpdate(doc)
      const create = { type: 'text', contentKey: 'content' } as const
      for (let index = 0; index < 8; index++)
        await appendUpdates(server, tenant, { ...document, editorId: `e${index}` }, [bytes], { create })
      expect(await call(tenant, 'get', document)).toMatchObject(
        refused('The CRDT data of this document is too large for one answer. Read it by editorId.'),
      )
      expect(await content(tenant, 'e7')).toBe('text')
    },
  )
})
