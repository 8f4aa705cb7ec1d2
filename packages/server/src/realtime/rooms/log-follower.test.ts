import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../platform/log/log.ts'
import { LogFollower } from './log-follower.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import type { EditorRoom } from './room.ts'
import { openDatabase } from '../../store/engine/open.ts'

const log = createLog('silent', { write: () => {} })

/** A room with one member that gets a row of another server. Returns what happens, in order. */
async function receiveRow(
  whenCurrent: (() => Promise<void>) | undefined,
  { isNeeded = false, bytes = 0 } = {},
): Promise<string[]> {
  const steps: string[] = []
  const gate = new Limiter(1)
  // Authorizing reads the database too.
  const member = {
    whenDecided: () => gate.run('key', async () => void steps.push('members are authorized'), 'ada'),
  }
  const room = {
    ref: {},
    members: new Set([member]),
    committed: { seq: 0 },
    createdAt: 1,
    owners: { override() {} },
    applyRows: async () => steps.push('rows are broadcast'),
    drop: () => void steps.push('the room is dropped'),
  } as unknown as EditorRoom
  const follower = new LogFollower({
    database: {} as never,
    crdt: {} as never,
    log,
    onRows() {},
    gate,
    signals: { whenCurrent: () => whenCurrent?.().then(() => void steps.push('signals are read')) },
  })
  if (isNeeded) void follower.catchUp(room, 'ada')
  else follower.receive(room, { seq: 1, createdAt: 1, owners: [], bytes: new Uint8Array(bytes) })
  await Promise.all(follower.running)
  return steps
}

test('[B3.4] a server that must read signals authorizes the readers before it broadcasts a row of another server', async () => {
  expect(await receiveRow(undefined)).toEqual(['rows are broadcast'])
  expect(await receiveRow(async () => {})).toEqual([
    'signals are read',
    'members are authorized',
    'rows are broadcast',
  ])
  const fails = () => Promise.reject(new Error('The database is not there.'))
  expect(await receiveRow(fails)).toEqual(['the room is dropped'])
})

test('[B3.4] rows that an update needs are read only after the readers are authorized, which need the same queries', async () => {
  // The read fails, because there is no database.
  expect(await receiveRow(async () => {}, { isNeeded: true })).toEqual([
    'signals are read',
    'members are authorized',
    'the room is dropped',
  ])
})

test('[R1.4] an editor that is created while a room reads what others have written is not taken for a deleted one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-follower-'))
  const database = await openDatabase({ dataDir: folder, durability: 'relaxed', poolSize: 1 })
  onTestFinished(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  const dropped: string[] = []
  const readInRoom = async (createdAt: number | undefined) => {
    const room = {
      apiKey: 'key',
      ref: { organizationId: 'o', documentId: 'd', editorId: 'e' },
      members: new Set(),
      committed: { seq: createdAt === undefined ? 0 : 1 },
      createdAt,
      drop: (reason: string) => void dropped.push(reason),
    } as unknown as EditorRoom
    /** The room stores its first update between the read and its answer. */
    const gate = {
      run: async <T>(_lane: string, read: () => Promise<T>) => {
        const found = await read()
        room.createdAt = 5
        Object.assign(room.committed, { seq: 1 })
        return found
      },
    } as unknown as Limiter
    const signals = { whenCurrent: () => undefined }
    const follower = new LogFollower({ database, crdt: {} as never, log, onRows() {}, gate, signals })
    await follower.catchUp(room, 'ada')
    return dropped.splice(0)
  }
  expect(await readInRoom(undefined)).toEqual([])
  expect(await readInRoom(4)).toEqual(['gone'])
})

test('[S2] a room reads rows again only if they have more than 2 MiB', async () => {
  expect(await receiveRow(undefined, { bytes: 1024 * 1024 })).toEqual(['rows are broadcast'])
  expect(await receiveRow(undefined, { bytes: 3 * 1024 * 1024 })).toEqual(['the room is dropped'])
})
