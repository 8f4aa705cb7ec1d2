import { setImmediate as nextIteration } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createMemoryLinks } from '../platform/server-link/memory-link.ts'
import type { ServerLink } from '../platform/server-link/server-link.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import { addressOf, Peers, topics } from './peers.ts'
import type { SharedList } from './shared-list.ts'
import { SharedLists } from './shared-lists.ts'

/** Waits until messages, and the answers to them, have arrived. */
const nextTurn = async () => {
  for (let turn = 0; turn < 20; turn++) await nextIteration()
}
const run = (steps: Iterator<unknown>) => {
  while (!steps.next().done);
}

/** Servers that share a list of texts. Messages are lost while `loses` says so. */
function createScene() {
  const clock = new SteppedClock()
  const createLink = createMemoryLinks()
  const loses = { all: false }
  let sent = 0
  const debugged: unknown[] = []
  const log = { debug: (fields: unknown) => debugged.push(fields), info() {}, warn() {}, error() {} }

  function start() {
    const own = new Map<string, string>()
    const others = new Map<string, string>()
    const memory = createLink()
    const link: ServerLink = Object.create(memory, {
      isConnected: { get: () => memory.isConnected },
      send: {
        value: (message: Uint8Array, to?: readonly string[]) => {
          // Signs of life are not counted. The topic follows a byte for the format.
          if (message[1] !== topics.servers) sent++
          if (!loses.all) memory.send(message, to)
        },
      },
    })
    const peers = new Peers({ link, log, clock })
    const lists = new SharedLists({ peers, clock, log })
    const list = lists.create('presence', addressOf('d1'), {
      ownKeys: () => own.keys(),
      ownItem: (key) => {
        const text = own.get(key)
        return text === undefined ? undefined : { content: Buffer.from(text), age: 0 }
      },
      onItem: (_server, key, { content }) => {
        const text = Buffer.from(content).toString()
        if (text === 'malformed') throw new Error('It is malformed.')
        others.set(key, text)
      },
      onRemoved: (_server, key) => others.delete(key),
      run,
    }) as SharedList
    const set = (key: string, text: string | undefined) => {
      if (text === undefined) own.delete(key)
      else own.set(key, text)
      list.update(key)
    }
    peers.start()
    return { peers, list, set, own, seen: () => Object.fromEntries(others) }
  }
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.step(1_000)
      await nextTurn()
    }
  }
  return { start, pass, loses, debugged, sentMessages: () => sent }
}

describe('lists over all servers', () => {
  test('[B4.7] a server has the items of all servers that have the list open, and sends nothing if there is no other', async () => {
    const { start, pass, sentMessages } = createScene()
    const [a, b, c] = [start(), start(), start()]
    await nextTurn()
    a.list.open()
    a.set('ada', '1')
    await pass(60)
    // It has asked twice, because the first message may be lost.
    expect(sentMessages()).toBe(2)
    b.set('bob', '1')
    b.list.open()
    c.list.open()
    await nextTurn()
    expect([a.seen(), b.seen(), c.seen()]).toEqual([{ bob: '1' }, { ada: '1' }, { ada: '1', bob: '1' }])
    a.set('ada', '2')
    b.set('bob', undefined)
    await nextTurn()
    expect([a.seen(), b.seen(), c.seen()]).toEqual([{}, { ada: '2' }, { ada: '2' }])
    a.list.close()
    await nextTurn()
    expect([b.seen(), c.seen()]).toEqual([{}, {}])
    const before = sentMessages()
    await pass(150)
    // Each of the two that are left sends a digest every 15 s.
    expect(sentMessages() - before).toBeLessThanOrEqual(2 * 10)
  })

  test('[B4.7] lost messages are noticed within 15 s: new, changed and removed items, and a closed list', async () => {
    const { start, pass, loses } = createScene()
    const [a, b] = [start(), start()]
    await nextTurn()
    for (const server of [a, b]) server.list.open()
    a.set('changed', '1')
    a.set('removed', '1')
    await nextTurn()
    expect(b.seen()).toEqual({ changed: '1', removed: '1' })
    await pass(10)
    loses.all = true
    a.set('changed', '2')
    a.set('removed', undefined)
    a.set('new', '2')
    await nextTurn()
    loses.all = false
    await pass(15)
    expect(b.seen()).toEqual({ changed: '2', new: '2' })
    loses.all = true
    a.list.close()
    await nextTurn()
    loses.all = false
    await pass(35)
    expect(b.seen()).toEqual({})
  })

  test('[B4.7] a list that was opened while messages were lost is shared 15 s later', async () => {
    const { start, pass, loses } = createScene()
    const [a, b] = [start(), start()]
    await nextTurn()
    a.list.open()
    a.set('ada', '1')
    await pass(30)
    loses.all = true
    b.list.open()
    await nextTurn()
    loses.all = false
    await pass(15)
    expect(b.seen()).toEqual({ ada: '1' })
  })

  test('[B4.8] malformed messages and items are ignored, and not asked for again and again', async () => {
    const { start, pass, debugged, sentMessages } = createScene()
    const [a, b] = [start(), start()]
    await nextTurn()
    for (const server of [a, b]) server.list.open()
    a.set('bad', 'malformed')
    a.set('good', '1')
    await nextTurn()
    expect(b.seen()).toEqual({ good: '1' })
    for (const body of [[], [9, 1], [1, 99], [1, 3, 1], [1, 5, 0], [1, 3, 1, 97, 0, 200, 1], [1, 1, 1]]) {
      a.peers.send('presence', addressOf('d1'), Uint8Array.from(body))
    }
    await nextTurn()
    expect(debugged).toHaveLength(1 + 7)
    const before = sentMessages()
    await pass(60)
    expect(sentMessages() - before).toBeLessThanOrEqual(2 * 4)
    expect(b.seen()).toEqual({ good: '1' })
  })

  test('[B4.9] at most 20,000 items of each other server are kept', async () => {
    const { start, pass, sentMessages } = createScene()
    const [a, b] = [start(), start()]
    await nextTurn()
    for (let number = 0; number < 20_010; number++) a.own.set(`u${number}`, '1')
    for (const server of [a, b]) server.list.open()
    await nextTurn()
    expect(Object.keys(b.seen())).toHaveLength(20_000)
    const before = sentMessages()
    await pass(45)
    expect(sentMessages() - before).toBeLessThanOrEqual(2 * 3)
  })
})
