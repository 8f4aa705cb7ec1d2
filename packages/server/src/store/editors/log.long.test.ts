import { Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { Database } from '../engine/db.ts'
import * as editorLog from './log.ts'
import * as versions from './versions.ts'
import { afterWrite, lostAnswer } from '../../../test/support/faults/after-write.ts'
import { expectShortIterations } from '../../../test/support/measures/loop-work.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'

const mebibyte = 1024 * 1024
const editorRef = { organizationId: 'o1', documentId: 'd1', editorId: 'e1' }

/** Returns bytes whose 1 MiB parts all differ. */
const bytesOf = (length: number, seed: number) => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 997) bytes[at] = (at / 997 + seed) % 251
  return bytes
}
const isSame = (a: Uint8Array | null | undefined, b: Uint8Array) => a != null && Buffer.compare(a, b) === 0

/** A part of a snapshot has 1 MiB, which is copied in a millisecond. */
const threeParts = { rowBytes: 3 * mebibyte + 1000 }
const sendBytes = Socket.prototype.write

describe.each(stores)('large editors on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const read = (apiKey: string, at = editorRef) => editorLog.read(server.database.read, apiKey, at)
  const partsIn = async (apiKey: string) => {
    const parts = server.database.read.selectFrom('editor_snapshot_parts').select('part')
    return (await parts.where('api_key', '=', apiKey).execute()).length
  }

  /** Creates an editor with these updates. */
  async function editor(...updates: Uint8Array[]) {
    const tenant = await given.tenant(server)
    await given.organization(tenant, 'o1')
    await tenant.client.documents.add({ organizationId: 'o1', documents: [{ documentId: 'd1' }] })
    const { apiKey } = tenant
    const append = (update: Uint8Array) => {
      const writer = { userId: 'u1', sessionId: null }
      const entry = {
        apiKey,
        editor: editorRef,
        update,
        writer,
        create: { type: null, contentKey: null },
        owners: [],
      }
      return server.database.write((db) => editorLog.append(db, [entry], 1000))
    }
    for (const update of updates) await append(update)
    const compact = (change: editorLog.NewSnapshot, database: Database = server.database) =>
      editorLog.compact(database, apiKey, editorRef, change)
    return { ...tenant, append, compact }
  }

  test('[R7.1] a large snapshot is written and read in parts, which are removed with it', async () => {
    const { apiKey, compact, append } = await editor(bytesOf(1, 1), bytesOf(2, 2))
    const large = bytesOf(2.5 * mebibyte, 3)
    expect(await compact({ snapshotSeq: 0, seq: 1, snapshot: large })).toBe(true)
    expect(await partsIn(apiKey)).toBe(2)
    const log = await read(apiKey)
    expect(log).toMatchObject({ snapshotSeq: 1, seq: 2, complete: true })
    expect(isSame(log?.snapshot, large)).toBe(true)

    const larger = bytesOf(4 * mebibyte, 4)
    expect(await compact({ snapshotSeq: 0, seq: 2, snapshot: larger })).toBe(false)
    expect(isSame((await read(apiKey))?.snapshot, large)).toBe(true)
    expect(await compact({ snapshotSeq: 1, seq: 2, snapshot: larger })).toBe(true)
    expect(await partsIn(apiKey)).toBe(3)
    expect(isSame((await read(apiKey))?.snapshot, larger)).toBe(true)

    await append(bytesOf(3, 5))
    expect(await compact({ snapshotSeq: 2, seq: 3, snapshot: bytesOf(10, 6) })).toBe(true)
    expect(await partsIn(apiKey)).toBe(0)
    expect(isSame((await read(apiKey))?.snapshot, bytesOf(10, 6))).toBe(true)
  })

  test('[R7.1] parts of an unfinished snapshot are never used, and the next snapshot removes them', async () => {
    const { apiKey, compact } = await editor(bytesOf(1, 1))
    let writes = 0
    const failing: Database = {
      ...server.database,
      read: server.database.read,
      write: (work) =>
        ++writes > 2 ? Promise.reject(new Error('The server ends.')) : server.database.write(work),
    }
    const large = bytesOf(4 * mebibyte, 3)
    await expect(compact({ snapshotSeq: 0, seq: 1, snapshot: large }, failing)).rejects.toThrow('ends')
    expect(await partsIn(apiKey)).toBe(2)
    expect(await read(apiKey)).toMatchObject({ snapshot: null, complete: true })
    expect(await compact({ snapshotSeq: 0, seq: 1, snapshot: large })).toBe(true)
    expect(await partsIn(apiKey)).toBe(3)
    expect(isSame((await read(apiKey))?.snapshot, large)).toBe(true)
  })

  test('[R7.1] when the answer to the commit of a snapshot is lost, its parts stay until the next snapshot replaces them', async () => {
    const { apiKey, compact } = await editor(bytesOf(1, 1), bytesOf(2, 2))
    const large = bytesOf(3 * mebibyte, 3)
    const losesAnswer = afterWrite(server.database, 3, () => Promise.reject(lostAnswer))
    await expect(compact({ snapshotSeq: 0, seq: 1, snapshot: large }, losesAnswer)).rejects.toBe(lostAnswer)
    const log = await read(apiKey)
    expect(log).toMatchObject({ snapshotSeq: 1, complete: true })
    expect(isSame(log?.snapshot, large)).toBe(true)
    expect(await compact({ snapshotSeq: 1, seq: 2, snapshot: large })).toBe(true)
    expect(await partsIn(apiKey)).toBe(2)
  })

  test('[R7.1] a snapshot that is begun before the parts of the older ones are removed keeps its own parts', async () => {
    const { apiKey, compact } = await editor(bytesOf(1, 1), bytesOf(2, 2))
    const [first, second] = [bytesOf(3 * mebibyte, 3), bytesOf(4 * mebibyte, 4)]
    let removed = () => {}
    const untilRemoved = new Promise<void>((resolve) => (removed = resolve))
    let isSecondStored: Promise<boolean> | undefined
    /** Writes the parts of the second snapshot, which then waits for its commit. */
    const beginSecond = () =>
      new Promise<void>((begun) => {
        const waits = afterWrite(server.database, 3, () => (begun(), untilRemoved))
        isSecondStored = compact({ snapshotSeq: 1, seq: 2, snapshot: second }, waits)
      })
    const beginsSecond = afterWrite(server.database, 3, beginSecond)
    expect(await compact({ snapshotSeq: 0, seq: 1, snapshot: first }, beginsSecond)).toBe(true)
    removed()
    expect(await isSecondStored).toBe(true)
    const log = await read(apiKey)
    expect(log).toMatchObject({ snapshotSeq: 2, complete: true })
    expect(isSame(log?.snapshot, second)).toBe(true)
    expect(await partsIn(apiKey)).toBe(3)
  })

  test('[R7.1] every read of a log that is compacted meanwhile returns a complete log', async () => {
    const updates = [1, 2, 3, 4].map((seed) => bytesOf(mebibyte / 2, seed))
    const { apiKey, compact, append } = await editor(...updates)
    let isOver = false
    const reads = (async () => {
      let count = 0
      for (; !isOver; count++) {
        const log = (await read(apiKey))!
        expect(log.complete).toBe(true)
        if (log.snapshot) expect(isSame(log.snapshot, bytesOf(3 * mebibyte, log.snapshotSeq))).toBe(true)
        for (const { seq, bytes } of log.updates) expect(isSame(bytes, bytesOf(mebibyte / 2, seq))).toBe(true)
      }
      return count
    })()
    for (let seq = 4, snapshotSeq = 0; seq < 8; seq++) {
      await compact({ snapshotSeq, seq: seq - 2, snapshot: bytesOf(3 * mebibyte, seq - 2) })
      snapshotSeq = seq - 2
      await append(bytesOf(mebibyte / 2, seq + 1))
    }
    isOver = true
    expect(await reads).toBeGreaterThan(0)
  })

  test('[R7.1] a snapshot in parts is moved with its document and deleted with its organization', async () => {
    const { apiKey, compact, client } = await editor(bytesOf(1, 1))
    const large = bytesOf(2 * mebibyte, 3)
    await compact({ snapshotSeq: 0, seq: 1, snapshot: large })
    await client.documents.migrate({ organizationId: 'o1', documentId: 'd1', newDocumentId: 'd2' })
    const moved = async () =>
      isSame((await read(apiKey, { ...editorRef, documentId: 'd2' }))?.snapshot, large)
    await expect.poll(moved).toBe(true)
    await client.organizations.delete({ organizationIds: ['o1'] })
    expect(await partsIn(apiKey)).toBe(0)
  })

  test('[17.4] [S2] a large version is written and read in parts without blocking the event loop', async () => {
    const { apiKey, client } = await editor(bytesOf(1, 1))
    const version = { versionId: 'ver_1', name: 'large', type: 'text', contentKey: 'content' } as const
    const bytes = bytesOf(6.5 * mebibyte, 3)
    const add = () =>
      server.database.write((db) => versions.add(db, apiKey, editorRef, { ...version, createdAt: 1, bytes }))
    await expectShortIterations(add, threeParts)
    let found: versions.StoredVersion | undefined
    const find = async () => (found = await versions.find(server.database.read, apiKey, editorRef, 'ver_1'))
    await expectShortIterations(find, threeParts)
    expect(found).toMatchObject(version)
    expect(isSame(found?.bytes, bytes)).toBe(true)
    await client.organizations.delete({ organizationIds: ['o1'] })
    const parts = server.database.read.selectFrom('editor_version_parts').select('part')
    expect(await parts.where('api_key', '=', apiKey).execute()).toEqual([])
  }, 60_000)

  test('[S2] reading the owners of 20,000 Yjs client ids does not block the event loop', async () => {
    const { apiKey } = await editor(bytesOf(1, 1))
    const writer = { userId: 'u1', sessionId: null }
    for (let at = 0; at < 20_000; at += 10_000) {
      const owners = Array.from({ length: 10_000 }, (_, i) => [at + i, `u${i % 7}`] as const)
      const entry = { apiKey, editor: editorRef, update: bytesOf(1, 1), writer, create: null, owners }
      await server.database.write((db) => editorLog.append(db, [entry], 1000))
    }
    let owners = new Map<number, string>()
    const readAll = async () => {
      owners = await editorLog.readOwners(server.database.read, apiKey, editorRef)
    }
    // A row is two numbers.
    await expectShortIterations(readAll, { rows: 4100 })
    expect(owners.size).toBe(20_000)
    expect(owners.get(19_999)).toBe(`u${9_999 % 7}`)
  }, 60_000)

  test('[S2] appending the largest update that a backend may write does not block the event loop', async () => {
    const { apiKey, append } = await editor(bytesOf(1, 1))
    const large = bytesOf(10 * mebibyte, 3)
    let sentBytes = 0
    const write = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args) {
      sentBytes += args[0].length
      return sendBytes.apply(this, args)
    })
    // The row is not divided: SQLite copies it in some milliseconds.
    await expectShortIterations(() => append(large), { statements: 10, rowBytes: large.length + 1000 })
    write.mockRestore()
    // The PostgreSQL driver would send twice as much, and convert it, if it got the update as text.
    expect(sentBytes).toBeLessThan(1.1 * large.length)
    const [, second] = (await read(apiKey))?.updates ?? []
    expect(isSame(second?.bytes, large)).toBe(true)
  }, 60_000)

  test('[S2] reading and compacting an editor of 8 MiB does not block the event loop', async () => {
    const updates = Array.from({ length: 8 }, (_, i) => bytesOf(mebibyte, i))
    const { apiKey, compact } = await editor(...updates)
    const snapshot = bytesOf(8 * mebibyte, 7)
    await expectShortIterations(() => read(apiKey), threeParts)
    await expectShortIterations(() => compact({ snapshotSeq: 0, seq: 7, snapshot }), threeParts)
    await expectShortIterations(() => read(apiKey), threeParts)
    await expectShortIterations(() => compact({ snapshotSeq: 7, seq: 8, snapshot }), threeParts)
  }, 60_000)
})
