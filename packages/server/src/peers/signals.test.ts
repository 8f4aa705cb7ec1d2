import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BusMessage, createServerBus } from '../bus.ts'
import { createLog } from '../platform/log/log.ts'
import { openDatabase } from '../store/engine/open.ts'
import type { Database } from '../store/engine/db.ts'
import * as stored from '../store/signals.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import { createPostgresDatabase } from '../../test/support/harness.ts'
import { noPeers } from '../../test/support/peers.ts'
import { Signals } from './signals.ts'

const log = createLog('silent', { write: () => {} })
const access = (userId: string): BusMessage => ({ kind: 'access', apiKey: 'key', userIds: [userId] })

describe('[B3] signals between servers', () => {
  let database: Database
  const opened: Signals[] = []
  beforeAll(async () => {
    const url = await createPostgresDatabase()
    database = await openDatabase({ url, dataDir: '', durability: 'full', poolSize: 4 })
  })
  afterAll(async () => {
    for (const signals of opened) await signals.stop()
    await database.close()
  })

  /** A server that has read everything up to now. Its clock stands still. */
  async function server() {
    const clock = new SteppedClock()
    const bus = createServerBus(log)
    const received: BusMessage[] = []
    let missed = 0
    bus.subscribe((message) => void received.push(message))
    const signals = new Signals({
      database,
      bus,
      peers: noPeers(),
      log,
      clock,
      onMissed: () => void missed++,
    })
    opened.push(signals)
    await signals.start()
    return { signals, clock, received, missed: () => missed }
  }

  test('[B3] a server gets a signal once, also if its transaction began before others that are already read', async () => {
    const [near, far] = [await server(), await server()]
    const release: (() => void)[] = []
    const held = database.write(async (db) => {
      await near.signals.store(db, [access('early')])
      await new Promise<void>((resolve) => release.push(resolve))
    })
    await expect.poll(() => release.length).toBe(1)
    await database.write((db) => near.signals.store(db, [access('late')]))
    far.clock.step(500)
    await expect.poll(() => far.received).toEqual([access('late')])
    release[0]?.()
    await held
    far.clock.step(500)
    await expect.poll(() => far.received).toEqual([access('late'), access('early')])
    far.clock.step(500)
    await far.signals.stop()
    expect(far.received).toHaveLength(2)
    expect(near.received).toEqual([])
  })

  test('[B3] a message that no transaction stored reaches this server at once and the others later', async () => {
    const [near, far] = [await server(), await server()]
    near.signals.send(access('ada'))
    expect(near.received).toEqual([access('ada')])
    near.clock.step(20)
    await expect
      .poll(() => {
        far.clock.step(500)
        return far.received
      })
      .toEqual([access('ada')])
  })

  test('[B3.1] a server that has not read signals for a second has them when `whenCurrent` resolves', async () => {
    const [near, far] = [await server(), await server()]
    expect(far.signals.whenCurrent()).toBeUndefined()
    await database.write((db) => near.signals.store(db, [access('ada')]))
    // The server was stopped: its timers did not run.
    far.clock.jump(30_000)
    await far.signals.whenCurrent()
    expect(far.received).toEqual([access('ada')])
    expect(far.signals.whenCurrent()).toBeUndefined()
  })

  test('[B3.2] a server that was away for a minute, or finds too many signals, has missed them', async () => {
    const [near, far] = [await server(), await server()]
    await database.write((db) => near.signals.store(db, [access('ada')]))
    far.clock.jump(61_000)
    await far.signals.whenCurrent()
    expect(far.missed()).toBe(1)
    expect(far.received).toEqual([])
    const many = Array.from({ length: 5_001 }, (_, index) => access(`user ${index}`))
    await database.write((db) => near.signals.store(db, many))
    far.clock.jump(2_000)
    await far.signals.whenCurrent()
    expect(far.missed()).toBe(2)
  })

  test('[B3.3] signals are deleted after an hour', async () => {
    const { signals, clock } = await server()
    await database.write((db) => signals.store(db, [access('ada')]))
    const count = async () => (await database.read.selectFrom('signals').select('signal_id').execute()).length
    const before = await count()
    expect(before).toBeGreaterThan(0)
    await database.write((db) => stored.prune(db, clock.now() + 59 * 60_000, 10_000))
    expect(await count()).toBe(before)
    await database.write((db) => stored.prune(db, clock.now() + 61 * 60_000, 10_000))
    expect(await count()).toBe(0)
  })
})
