import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { appendUpdates, compactLog, storedLog } from '../../support/data/editors.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, saved } from '../../support/clients/hocuspocus-client.ts'
import { rawClient } from '../../support/clients/raw-clients.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

/** Statements that make the database refuse new snapshots, and accept them again. */
const snapshotBlock = {
  sqlite: {
    begin: `create trigger no_snapshots before insert on editor_snapshots begin select raise(abort, 'no'); end`,
    end: 'drop trigger no_snapshots',
  },
  postgres: {
    begin: 'alter table editor_snapshots add constraint no_snapshots check (false) not valid',
    end: 'alter table editor_snapshots drop constraint no_snapshots',
  },
}

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

describe.each(stores)('failing compaction on %s', (store) => {
  const server = useServer(store, { env: { LIMIT_EDITOR_BYTES: '200000' } })
  const execute = (statement: string) => server.database.write((db) => sql.raw(statement).execute(db))
  const failures = () => server.logged.filter((line) => line.includes('could not be compacted')).length
  const snapshots = () => server.database.read.selectFrom('editor_snapshots').select('editor_id').execute()

  test('[R7.1] a failed compaction is retried after a minute, and its editor can be opened, edited and saved meanwhile', async () => {
    const tenant = await given.tenant(server)
    const ada = hocuspocusClient(server, await tokenFor(tenant))
    await synced(ada)
    await execute(snapshotBlock[store].begin)
    const long = 100_000
    ada.text.insert(0, 'x'.repeat(long))
    await eventually(failures).toBe(1)
    for (let typed = 0; typed < 20; typed++) {
      ada.text.insert(0, 'y')
      await saved(ada)
    }
    const bob = yjsClient(server, await tokenFor(tenant, 'bob'))
    await synced(bob)
    expect(bob.text.length).toBe(long + 20)
    expect(failures()).toBe(1)

    server.clock.offsetMs += 61_000
    ada.text.insert(0, 'z')
    await eventually(failures).toBe(2)
    await execute(snapshotBlock[store].end)
    ada.text.insert(0, 'z')
    await saved(ada)
    expect(await snapshots()).toEqual([])
    server.clock.offsetMs += 61_000
    ada.text.insert(0, 'z')
    await eventually(snapshots).toHaveLength(1)
    expect(failures()).toBe(2)
    await eventually(() => bob.text.length).toBe(long + 23)
  })

  test('[R7.1] [S6.3] an open editor that is full accepts content again after another server has compacted it', async () => {
    const tenant = await given.tenant(server)
    const ada = rawClient(server, 'hocuspocus', { ...editorRef, token: await tokenFor(tenant) })
    await ada.opened()
    const failuresBefore = failures()
    await execute(snapshotBlock[store].begin)
    const doc = new Y.Doc()
    let update: Uint8Array = new Uint8Array()
    doc.on('update', (bytes: Uint8Array) => (update = bytes))
    const text = doc.getText('content')
    text.insert(0, 'x'.repeat(150_000))
    expect(await ada.update(update)).toBe('saved')
    // The room tries no other compaction for a minute.
    await eventually(failures).toBe(failuresBefore + 1)
    text.delete(0, 140_000)
    expect(await ada.update(update)).toBe('saved')
    text.insert(0, 'y'.repeat(60_000))
    expect(await ada.update(update)).toBe('refused')

    await execute(snapshotBlock[store].end)
    expect(await compactLog(server, tenant, editorRef)).toBe(true)
    server.clock.offsetMs += 61_000
    await eventually(() => ada.update(update)).toBe('saved')
  })
})

describe.each(stores)('a log that is compacted while clients have it open on %s', (store) => {
  const server = useServer(store)

  const countCalls = (listen: (listener: () => void) => unknown) => {
    let calls = 0
    listen(() => calls++)
    return () => calls
  }
  const openYjs = async (tenant: given.Tenant, userId = 'bob') => {
    const client = yjsClient(server, await tokenFor(tenant, userId))
    await synced(client)
    return { ...client, closes: countCalls((listener) => client.provider.on('connection-close', listener)) }
  }
  const openHocuspocus = async (tenant: given.Tenant) => {
    const client = hocuspocusClient(server, await tokenFor(tenant))
    await synced(client)
    return { ...client, closes: countCalls((listener) => client.provider.on('close', listener)) }
  }

  test('[R7.2] [R4.1] no client of an editor is disconnected while many backends replace its content until its log is compacted several times', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'first' })
    const readers = [await openYjs(tenant), await openHocuspocus(tenant)]
    let written = 0
    const write = async () => {
      while (written < 30) {
        const data = `text ${written++} `.repeat(700)
        await tenant.client.crdt.update({ ...editorRef, type: 'text', data })
      }
    }
    await Promise.all(Array.from({ length: 20 }, write))
    const stored = (await tenant.client.crdt.get(editorRef)).data[0]?.data
    for (const { text, closes } of readers) {
      await eventually(() => text.toString()).toBe(stored)
      expect(closes()).toBe(0)
    }
    expect((await storedLog(server, tenant, editorRef))!.snapshotSeq).toBeGreaterThan(10)
  })

  test('[R7.2] a client whose server lacks rows that another server has compacted gets what they changed, stays connected and loses nothing', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await openHocuspocus(tenant), await openYjs(tenant)]
    ada.text.insert(0, 'Hello world')
    await saved(ada)
    await eventually(() => bob.text.toString()).toBe('Hello world')
    // Another server stores what Carol changes, and compacts the log. This server does not learn of it.
    const carol = new Y.Doc()
    Y.applyUpdate(carol, Y.encodeStateAsUpdate(ada.doc))
    const updates: Uint8Array[] = []
    carol.on('update', (update: Uint8Array) => updates.push(update))
    carol.getText('content').insert(5, ', wide')
    carol.getText('content').delete(0, 5)
    const owners = [[carol.clientID, 'carol'] as const]
    await appendUpdates(server, tenant, editorRef, updates, { userId: 'carol', owners })
    expect(await compactLog(server, tenant, editorRef)).toBe(true)

    ada.text.insert(ada.text.length, '!')
    bob.text.insert(0, '> ')
    await saved(ada)
    for (const { text } of [ada, bob]) await eventually(() => text.toString()).toBe('> , wide world!')
    expect([ada.closes(), bob.closes()]).toEqual([0, 0])
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('> , wide world!')
    const late = await openYjs(tenant, 'carol')
    expect(late.text.toString()).toBe('> , wide world!')
  })
})
