import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as editorLog from './log.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)
const document = { organizationId: 'o1', documentId: 'd1' }
const inEditor = (editorId: string, documentId = 'd1') => ({ ...document, documentId, editorId })
const editorRef = inEditor('e1')

describe.each(stores)('the editor log on %s', (store) => {
  const server = useServer(store)
  const read = () => server.database.read

  /** Creates a tenant with the document d1. */
  const tenant = async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, 'o1')
    await tenant.client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'd1' }] })
    return tenant
  }
  const entry = (apiKey: string, fields: Partial<editorLog.Entry> = {}): editorLog.Entry => ({
    apiKey,
    editor: editorRef,
    update: bytes(1),
    writer: { userId: 'u1', sessionId: 's1' },
    create: { type: null, contentKey: null },
    owners: [],
    ...fields,
  })
  const append = async (entries: editorLog.Entry[], now = 1000) => {
    const appended = await server.database.write((db) => editorLog.append(db, entries, now))
    return appended.map((one) => (typeof one === 'object' ? one.seq : undefined))
  }
  const load = (apiKey: string, at = editorRef) => editorLog.load(read(), apiKey, at)
  const compactInTransaction = (
    apiKey: string,
    change: Parameters<typeof editorLog.compactInTransaction>[3],
  ) => server.database.write((db) => editorLog.compactInTransaction(db, apiKey, editorRef, change))
  const loaded = (updates: readonly editorLog.Update[]) => updates.map(({ seq, bytes }) => [seq, ...bytes])

  test('[R7] append creates the editor, increments its number and stores the writer, the session and the owners of Yjs client ids', async () => {
    const { apiKey } = await tenant()
    const create = { type: 'xml', contentKey: 'default' } as const
    expect(await append([entry(apiKey, { create, owners: [[7, 'u1']] })])).toEqual([1])
    const writer = { userId: 'u2', sessionId: null }
    const owners: [number, string][] = [
      [7, 'u1'],
      [2 ** 32 - 1, 'u2'],
    ]
    expect(await append([entry(apiKey, { update: bytes(2, 3), writer, owners })], 2000)).toEqual([2])
    expect(await load(apiKey)).toEqual({
      type: 'xml',
      contentKey: 'default',
      createdAt: 1000,
      seq: 2,
      snapshotSeq: 0,
      snapshot: null,
      updates: [
        { seq: 1, bytes: expect.any(Uint8Array) },
        { seq: 2, bytes: expect.any(Uint8Array) },
      ],
      complete: true,
      lastUpdated: 2000,
      lastUpdatedBy: 'u2',
      sessionId: null,
      owners: new Map([
        [7, 'u1'],
        [2 ** 32 - 1, 'u2'],
      ]),
    })
    expect(loaded((await load(apiKey))!.updates)).toEqual([
      [1, 1],
      [2, 2, 3],
    ])
  })

  // On SQLite there is one server, which knows all owners.
  test.runIf(store === 'postgres')(
    '[R8.5] [B4.5] an append with a Yjs client id that another user owns stores nothing in that editor',
    async () => {
      const { apiKey } = await tenant()
      await append([entry(apiKey, { owners: [[7, 'u1']] })])
      const entries = [
        entry(apiKey, { owners: [[7, 'u2']], update: bytes(2) }),
        entry(apiKey, { editor: inEditor('e2'), owners: [[7, 'u2']], update: bytes(3) }),
        entry(apiKey, { owners: [[8, 'u2']], update: bytes(4) }),
      ]
      for (const write of [editorLog.append, editorLog.appendSkippingLocked]) {
        const [claimed, other, later] = await server.database.write((db) => write(db, entries, 2000))
        expect(claimed).toBe('claimed')
        expect([other, later]).toEqual([expect.any(Object), expect.any(Object)])
      }
      const log = (await load(apiKey))!
      expect(loaded(log.updates)).toEqual([
        [1, 1],
        [2, 4],
        [3, 4],
      ])
      expect(log.owners).toEqual(
        new Map([
          [7, 'u1'],
          [8, 'u2'],
        ]),
      )
    },
  )

  test('[R7] one call appends to editors of several tenants, and twice to the same editor', async () => {
    const [one, two] = [await tenant(), await tenant()]
    await append([entry(one.apiKey, { editor: inEditor('e2') })])
    const entries = [
      entry(two.apiKey, { update: bytes(1) }),
      entry(one.apiKey, { editor: inEditor('e2'), update: bytes(2), create: null }),
      entry(one.apiKey, { update: bytes(3) }),
      entry(one.apiKey, { editor: inEditor('e2'), update: bytes(4), create: null }),
    ]
    expect(await append(entries)).toEqual([1, 2, 1, 3])
    expect(loaded((await load(two.apiKey))!.updates)).toEqual([[1, 1]])
    expect(loaded((await load(one.apiKey))!.updates)).toEqual([[1, 3]])
    expect(loaded((await load(one.apiKey, inEditor('e2')))!.updates)).toEqual([
      [1, 1],
      [2, 2],
      [3, 4],
    ])
  })

  test('[R7] an update for a missing document, editor or API key gets no number and does not fail the other updates', async () => {
    const { apiKey } = await tenant()
    const entries = [
      entry(apiKey, { editor: inEditor('e1', 'nowhere'), owners: [[1, 'u1']] }),
      entry(apiKey, { editor: inEditor('missing'), create: null, owners: [[1, 'u1']] }),
      entry(apiKey),
      entry('no such key'),
    ]
    expect(await append(entries)).toEqual([undefined, undefined, 1, undefined])
    expect(await load(apiKey, inEditor('e1', 'nowhere'))).toBeUndefined()
    expect(await load(apiKey, inEditor('missing'))).toBeUndefined()
    expect(await append([])).toEqual([])
  })

  test('[R7] an append or a compaction for a deleted editor is refused, also after the editor was created again', async () => {
    const { apiKey, client } = await tenant()
    await append([entry(apiKey, { owners: [[7, 'u1']] })], 1000)
    const { createdAt } = (await load(apiKey))!
    await client.documents.delete({ organizationId: 'o1', documentIds: ['d1'] })
    expect(await append([entry(apiKey, { createdAt, create: null })])).toEqual([undefined])
    await client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'd1' }] })
    expect(await append([entry(apiKey), entry(apiKey)], 2000)).toEqual([1, 2])

    expect(await append([entry(apiKey, { createdAt, create: null }), entry(apiKey, { createdAt })])).toEqual([
      undefined,
      undefined,
    ])
    const snapshot = { snapshotSeq: 0, seq: 1, snapshot: bytes(9) }
    expect(await compactInTransaction(apiKey, { ...snapshot, createdAt })).toBe(false)
    const recreated = (await load(apiKey))!
    expect(recreated).toMatchObject({ seq: 2, snapshotSeq: 0, createdAt: 2000, owners: new Map() })
    expect(await append([entry(apiKey, { createdAt: 2000 })])).toEqual([3])
    expect(await compactInTransaction(apiKey, { ...snapshot, createdAt: 2000 })).toBe(true)
  })

  test('[R7] one call appends to a thousand editors, including large updates', async () => {
    const { apiKey } = await tenant()
    const entries = Array.from({ length: 1000 }, (_, index) =>
      entry(apiKey, {
        editor: inEditor(`e${index}`),
        update: index % 100 === 0 ? new Uint8Array(1024 * 1024).fill(index / 100) : bytes(index % 256),
        owners: [[index, 'u1']],
      }),
    )
    expect(await append(entries)).toEqual(Array<number>(1000).fill(1))
    expect(await append(entries.toReversed())).toEqual(Array<number>(1000).fill(2))
    for (const index of [0, 1, 555, 900, 999]) {
      const log = (await load(apiKey, inEditor(`e${index}`)))!
      const { update } = entries[index]!
      expect(log.updates.map(({ bytes }) => Buffer.compare(bytes, update))).toEqual([0, 0])
      expect(log.owners).toEqual(new Map([[index, 'u1']]))
    }
  })

  test('[R7] concurrent calls number their updates consecutively and store all of them', async () => {
    const { apiKey } = await tenant()
    const editors = Array.from({ length: 20 }, (_, index) => inEditor(`e${index}`))
    const calls = Array.from({ length: 12 }, (_, call) =>
      append(
        (call % 2 === 0 ? editors : editors.toReversed()).map((editorRef) =>
          entry(apiKey, { editor: editorRef, update: bytes(call) }),
        ),
      ),
    )
    const answered = await Promise.all(calls)
    for (const [index, at] of editors.entries()) {
      const log = (await load(apiKey, at))!
      expect(log).toMatchObject({ seq: 12, complete: true })
      const numbers = answered.map((seqs, call) => seqs[call % 2 === 0 ? index : editors.length - 1 - index])
      for (const [call, seq] of numbers.entries()) expect(log.updates[seq! - 1]?.bytes[0]).toBe(call)
    }
  })

  test('[S1] an append that does not wait for locks skips the editors that another transaction is writing', async () => {
    const { apiKey } = await tenant()
    const editorRefs = ['e1', 'e2', 'e3'].map((editorId) => inEditor(editorId))
    await append(editorRefs.slice(0, 2).map((editorRef) => entry(apiKey, { editor: editorRef })))
    const free = () => {
      const entries = [
        ...editorRefs.map((editorRef) => entry(apiKey, { editor: editorRef })),
        entry(apiKey, { createdAt: 7, create: null }),
      ]
      return server.database.write((db) => editorLog.appendSkippingLocked(db, entries, 2000))
    }
    if (store === 'postgres') {
      let locked: () => void = () => {}
      let release: () => void = () => {}
      const isLocked = new Promise<void>((resolve) => (locked = resolve))
      const done = new Promise<void>((resolve) => (release = resolve))
      const other = server.database.write(async (db) => {
        const written = { createdAt: 1000, seq: 1 }
        expect(await editorLog.canStillAppend(db, apiKey, editorRefs[0]!, written, 'rest-api')).toBe(true)
        locked()
        await done
      })
      await isLocked
      expect(await free()).toEqual([
        'locked',
        { seq: 2, createdAt: 1000 },
        { seq: 1, createdAt: 2000 },
        undefined,
      ])
      release()
      await other
    }
    expect((await free()).map((one) => typeof one === 'object')).toEqual([true, true, true, false])
  })

  test('[17.3] canStillAppend is false if, after the given seq, the same writer appended or a snapshot replaced rows, or if the editor is another one', async () => {
    const { apiKey } = await tenant()
    const by = (userId: string) => ({ writer: { userId, sessionId: null } })
    const canAppend = (seq: number, createdAt = 1000) =>
      server.database.write((db) =>
        editorLog.canStillAppend(db, apiKey, editorRef, { seq, createdAt }, 'rest-api'),
      )
    expect(await canAppend(0)).toBe(false)
    await append([entry(apiKey, by('rest-api')), entry(apiKey, by('ada')), entry(apiKey, by('bob'))])
    expect(await canAppend(0)).toBe(false)
    expect(await canAppend(1)).toBe(true)
    expect(await canAppend(3)).toBe(true)
    expect(await canAppend(3, 999)).toBe(false)
    expect(await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 2, snapshot: bytes(9) })).toBe(true)
    expect(await canAppend(1)).toBe(false)
    expect(await canAppend(2)).toBe(true)
  })

  test('[R7] readAfter returns the updates after a number, unless a snapshot replaced them or the editor was deleted', async () => {
    const { apiKey } = await tenant()
    const readAfter = async (seq: number, createdAt?: number) => {
      const rows = await editorLog.readAfter(read(), apiKey, editorRef, { seq, createdAt })
      return typeof rows === 'object' ? loaded(rows.updates) : rows
    }
    expect(await readAfter(0)).toBeUndefined()
    await append([1, 2, 3, 4].map((byte) => entry(apiKey, { update: bytes(byte) })))
    expect(await readAfter(0)).toEqual([1, 2, 3, 4].map((seq) => [seq, seq]))
    expect(await readAfter(3)).toEqual([[4, 4]])
    expect(await readAfter(4)).toEqual([])
    expect(await readAfter(5)).toBeUndefined()
    expect(await readAfter(3, 1000)).toEqual([[4, 4]])
    expect(await readAfter(3, 999)).toBeUndefined()

    expect(await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 3, snapshot: bytes(9) })).toBe(true)
    expect(await readAfter(2)).toBe('compacted')
    expect(await readAfter(3)).toEqual([[4, 4]])
    expect(await readAfter(4)).toEqual([])
  })

  test('[R7.1] a snapshot replaces its updates only if the snapshot that it is based on is still stored', async () => {
    const { apiKey } = await tenant()
    await append([1, 2, 3].map((byte) => entry(apiKey, { update: bytes(byte) })))
    expect(await compactInTransaction(apiKey, { snapshotSeq: 1, seq: 2, snapshot: bytes(9) })).toBe(false)
    expect(await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 4, snapshot: bytes(9) })).toBe(false)
    expect(await load(apiKey)).toMatchObject({ snapshotSeq: 0, snapshot: null, complete: true })

    expect(await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 2, snapshot: bytes(8, 8) })).toBe(true)
    const log = (await load(apiKey))!
    expect(log).toMatchObject({ seq: 3, snapshotSeq: 2, complete: true })
    expect([...log.snapshot!]).toEqual([8, 8])
    expect(loaded(log.updates)).toEqual([[3, 3]])

    expect(await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 3, snapshot: bytes(7) })).toBe(false)
    expect(await compactInTransaction(apiKey, { snapshotSeq: 2, seq: 3, snapshot: bytes(7) })).toBe(true)
    expect(await load(apiKey)).toMatchObject({ seq: 3, snapshotSeq: 3, updates: [], complete: true })
    expect(await append([entry(apiKey)])).toEqual([4])
    expect((await load(apiKey))!.complete).toBe(true)
  })

  test('[R7] snapshot, updates and owners are moved with their document and deleted with their organization', async () => {
    const { apiKey, client } = await tenant()
    await append([1, 2].map((byte) => entry(apiKey, { update: bytes(byte), owners: [[byte, 'u1']] })))
    await compactInTransaction(apiKey, { snapshotSeq: 0, seq: 1, snapshot: bytes(9) })
    const before = await load(apiKey)
    expect(before).toMatchObject({ snapshotSeq: 1, seq: 2, complete: true })
    await client.documents.migrate({ ...document, newDocumentId: 'd2' })
    await expect.poll(() => load(apiKey, inEditor('e1', 'd2'))).toEqual(before)
    await client.organizations.delete({ organizationIds: ['o1'] })
    for (const table of ['editors', 'editor_snapshots', 'editor_updates', 'editor_clients'] as const) {
      const rows = await read().selectFrom(table).select('editor_id').where('api_key', '=', apiKey).execute()
      expect([table, rows]).toEqual([table, []])
    }
  })

  test('[R7.1] a snapshot is due after 500 updates, or when the updates are larger than 64 KiB and than the last snapshot', () => {
    expect(editorLog.needsSnapshot({ updates: 499, bytes: 64 * 1024 }, 0)).toBe(false)
    expect(editorLog.needsSnapshot({ updates: 500, bytes: 0 }, 0)).toBe(true)
    expect(editorLog.needsSnapshot({ updates: 1, bytes: 64 * 1024 + 1 }, 64 * 1024)).toBe(true)
    expect(editorLog.needsSnapshot({ updates: 1, bytes: 64 * 1024 + 1 }, 1024 * 1024)).toBe(false)
  })

  test.runIf(store === 'postgres')(
    '[R7] an update of an editor that another transaction is creating is appended after that one',
    async () => {
      const { apiKey } = await tenant()
      let commit = () => {}
      const mayCommit = new Promise<void>((resolve) => (commit = resolve))
      let created = () => {}
      const isCreated = new Promise<void>((resolve) => (created = resolve))
      const first = server.database.write(async (db) => {
        await editorLog.append(db, [entry(apiKey)], 1000)
        created()
        await mayCommit
      })
      await isCreated
      const second = append([entry(apiKey, { update: bytes(2) })])
      const waiting = sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      await expect.poll(async () => (await waiting.execute(read())).rows).toEqual([{ count: 1 }])
      commit()
      await first
      expect(await second).toEqual([2])
    },
  )
})
