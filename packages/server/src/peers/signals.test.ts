import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BusMessage, createServerBus } from '../bus.ts'
import { createLog } from '../platform/log/log.ts'
import { openDatabase } from '../store/engine/open.ts'
import type { Database } from '../store/engine/db.ts'
import * as stored from '../store/signals.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import { createPostgresDatabase } from '../../test/support/harness.ts'
import { noPeers } from '../../test/support/servers/peers.ts'
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
    // Undefined if PostgreSQL is missing.
    await database?.close()
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
    return { signals, clock, bus, received, missed: () => missed }
  }

  test('[B3] a server gets a signal once, also if its transaction began before others that are already read', async () => {
    const [near, far] = [await server(), await server()]
    const [early, late] = [access('early'), access('late')]
    const release: (() => void)[] = []
    const held = database.write(async (db) => {
      await near.signals.store(db, [early])
      await new Promise<void>((resolve) => release.push(resolve))
    })
    await expect.poll(() => release.length).toBe(1)
    await database.write((db) => near.signals.store(db, [late]))
    near.signals.publish([late])
    far.clock.step(500)
    await expect.poll(() => far.received).toEqual([access('late')])
    release[0]?.()
    await held
    near.signals.publish([early])
    far.clock.step(500)
    await expect.poll(() => far.received).toEqual([access('late'), access('early')])
    far.clock.step(500)
    await far.signals.stop()
    expect(far.received).toHaveLength(2)
    await near.signals.catchUp()
    expect(near.received).toEqual([late, early])
  })

  test('[B3] a server that got no answer to its commit gets its own signal when it reads, and no other signal of its own', async () => {
    const near = await server()
    const [undone, unanswered, published] = [access('undone'), access('unanswered'), access('published')]
    const refused = database.write(async (db) => {
      await near.signals.store(db, [undone, published])
      throw new Error('The transaction is rolled back.')
    })
    await expect(refused).rejects.toThrow('rolled back')
    await database.write((db) => near.signals.store(db, [unanswered]))
    // The transaction runs again.
    await database.write((db) => near.signals.store(db, [published]))
    near.signals.publish([published])
    expect(near.received).toEqual([published])
    await near.signals.catchUp()
    expect(near.received).toEqual([published, unanswered])
    await near.signals.catchUp()
    expect(near.received).toHaveLength(2)
  })

  test('[B3] jobs get the signals that they publish once', async () => {
    const near = await server()
    const { store, publish } = near.signals.of('key')
    const message = { kind: 'access' as const, userIds: ['ada'] }
    await database.write((db) => store(db, [message]))
    publish([message])
    await near.signals.catchUp()
    expect(near.received).toEqual([access('ada')])
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
    await near.signals.catchUp()
    expect(near.received).toHaveLength(1)
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

  test('[B3] the changes of access of one read are applied together', async () => {
    const [near, far] = [await server(), await server()]
    await database.write((db) => near.signals.store(db, [access('ada'), access('bob')]))
    await far.signals.catchUp()
    expect(far.received).toEqual([{ ...access('ada'), userIds: ['ada', 'bob'] }])
  })

  test('[S2] [B3.1] other work runs between the signals of one read, and `whenCurrent` resolves after the last of them', async () => {
    const [near, far] = [await server(), await server()]
    const count = 10
    const messages = Array.from({ length: count }, (_, index) => ({
      kind: 'credentials' as const,
      apiKey: `key ${index}`,
    }))
    await database.write((db) => near.signals.store(db, messages))
    far.clock.jump(30_000)
    let turn = 0
    const next = () => void (turn++, far.received.length < count && setImmediate(next))
    const turns = new Set<number>()
    const answers: (Promise<void> | undefined)[] = []
    far.bus.subscribe(() => {
      turns.add(turn)
      answers.push(far.signals.whenCurrent())
      const until = performance.now() + 10
      while (performance.now() < until);
    })
    next()
    await far.signals.whenCurrent()
    expect(far.received).toEqual(messages)
    expect(turns.size).toBeGreaterThan(count / 3)
    expect(answers).not.toContain(undefined)
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
