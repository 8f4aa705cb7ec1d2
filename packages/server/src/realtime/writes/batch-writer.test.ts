import { describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { Commits, type Sender } from '../authorization/commits.ts'
import { type BatchWork, BatchWriter } from './batch-writer.ts'

const tickMs = 10
const ada: Sender = { mayStore: true, whenDecided: () => Promise.resolve() }

/** A batch writer whose items are names, with a database that stores nothing. `events` lists the calls of its work. */
function scene({
  sender = ada,
  write = () => Promise.resolve(),
}: { sender?: Sender; write?: () => Promise<void> } = {}) {
  const clock = new SteppedClock()
  const waiting: string[] = []
  const events: string[] = []
  const database = {
    exclusive: true,
    ping: () => Promise.resolve(),
    async write<T>(work: (db: Db) => Promise<T>): Promise<T> {
      const result = await work({} as Db)
      await write()
      return result
    },
  }
  const work: BatchWork<string, number> = {
    tickMs,
    hasWaiting: () => waiting.length > 0,
    takeItems: () => waiting.splice(0),
    refuseUnstorable: async (items) => items.filter((item) => item !== 'refused'),
    originOf: (items) => ({ apiKeys: new Set(items.map(() => 'key')), senders: [sender] }),
    store: async (_db, items, isAlone) => {
      events.push(`store ${isAlone ? 'alone ' : ''}${items.join()}`)
      return items.length
    },
    onAccessChanged(items) {
      events.push(`access ${items.join()}`)
      return items.filter((item) => item === 'kept')
    },
    onStored: (items, result) => void events.push(`stored ${items.join()} ${result}`),
    onFailed: (items) => void events.push(`failed ${items.join()}`),
    onRecovered: () => {},
  }
  const commits = new Commits(database as unknown as Database, { whenCurrent: () => undefined })
  const writer = new BatchWriter({ commits, database, clock }, work)
  const add = (...items: string[]) => {
    waiting.push(...items)
    writer.wake()
  }
  /** Lets everything run that does not wait for the clock. */
  const settle = async () => {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, events, writer, add, settle }
}

describe('[R7] the batch writer', () => {
  test('[R7] the batch writer stores in one transaction all waiting items that are not refused', async () => {
    const { events, add, settle } = scene()
    add('a', 'refused')
    add('b')
    await settle()
    expect(events).toEqual(['store a,b', 'stored a,b 2'])
  })

  test('[R7] the batch writer starts a tick at least `tickMs` after the last', async () => {
    const { events, clock, add, settle } = scene()
    add('a')
    await settle()
    add('b')
    clock.step(tickMs - 2)
    add('c')
    await settle()
    expect(events).toEqual(['store a', 'stored a 1'])
    clock.step(2)
    await settle()
    expect(events.slice(2)).toEqual(['store b,c', 'stored b,c 2'])
  })

  test('[R7] the batch writer does not pause between ticks while a caller of `idle` waits', async () => {
    const { events, clock, writer, add, settle } = scene()
    add('a')
    await settle()
    add('b')
    await settle()
    await writer.idle()
    expect(events).toContain('stored b 1')
    expect([writer.isIdle, clock.pending]).toEqual([true, 0])
  })

  test('[R7] the batch writer starts no transaction if nothing has to be stored, and still calls `onStored`', async () => {
    const { events, add, settle } = scene()
    add('refused')
    await settle()
    expect(events).toEqual(['stored  undefined'])
  })

  test('[R9] [R32] the batch writer does not commit when a sender lost access, and stores the remaining items in another transaction', async () => {
    const answers = [false, true]
    const sender = {
      get mayStore() {
        return answers.shift()
      },
      whenDecided: () => Promise.resolve(),
    }
    const { events, add, settle } = scene({ sender })
    add('kept', 'lost')
    await settle()
    expect(events).toEqual(['store kept,lost', 'access kept,lost', 'store kept', 'stored kept 1'])
  })

  test('[R7] the batch writer reports a failed transaction and runs the next one', async () => {
    let failures = 1
    const write = () => (failures-- > 0 ? Promise.reject(new Error('no disk')) : Promise.resolve())
    const { events, clock, add, settle } = scene({ write })
    add('a')
    await settle()
    expect(events).toEqual(['store a', 'failed a'])
    add('b')
    clock.step(tickMs)
    await settle()
    expect(events.slice(2)).toEqual(['store b', 'stored b 1'])
  })

  test('[R7] the batch writer stores a locked item alone, and meanwhile stores other items', async () => {
    let unlock = () => {}
    let writes = 0
    const locked = new Promise<void>((resolve) => (unlock = resolve))
    const { events, writer, add, settle } = scene({
      write: () => (writes++ === 0 ? locked : Promise.resolve()),
    })
    const alone = writer.storeAlone('locked', 'key')
    await settle()
    add('b')
    await settle()
    expect(events).toEqual(['store alone locked', 'store b', 'stored b 1'])
    unlock()
    await alone
    expect(events.at(-1)).toBe('stored locked 1')
  })
})
