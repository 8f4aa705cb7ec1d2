import { describe, expect, test } from 'vitest'
import { createMemoryLinks } from '../platform/server-link/memory-link.ts'
import { SteppedClock } from '../../test/support/clock.ts'
import { addressOf, allServers, everywhere, Peers } from './peers.ts'

const log = { error: () => {}, info: () => {}, warn: () => {} }
const idle = { onMessage: () => {}, onConnected: () => {}, onDisconnected: () => {}, onUnreachable: () => {} }
const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))))

describe('[B1] messages between servers', () => {
  test('[B1] a message reaches those who listen at its address on other servers, in order, and nobody else', async () => {
    const createLink = createMemoryLinks()
    const [a, b, c] = [1, 2, 3].map(() => new Peers({ link: createLink(), log })) as [Peers, Peers, Peers]
    const got: [string, number, string][] = []
    const here = addressOf('key', 'document')
    for (const [name, peers] of Object.entries({ a, b, c })) {
      peers.start()
      peers.listen('document', here, (body, from) =>
        got.push([name, body[0] ?? -1, from === a.serverId ? 'a' : 'other']),
      )
      peers.listen('editor', here, () => got.push([name, -2, '']))
      peers.listen('document', addressOf('key', 'other'), () => got.push([name, -3, '']))
    }
    await nextTurn()
    const stop = c.listen('document', here, () => got.push(['stopped', 0, '']))
    stop()
    for (const value of [1, 2, 3]) a.send('document', here, Uint8Array.of(value))
    await nextTurn()
    expect(got.filter(([name]) => name === 'b')).toEqual([
      ['b', 1, 'a'],
      ['b', 2, 'a'],
      ['b', 3, 'a'],
    ])
    expect(got.filter(([name]) => name === 'c')).toHaveLength(3)
    expect(got).toHaveLength(6)
    expect(b.count).toBe(2)
  })

  test('[B1.5] cursors within 10 ms travel in one message, or with the next other message', async () => {
    const createLink = createMemoryLinks()
    const clock = new SteppedClock()
    const [a, b] = [1, 2].map(() => new Peers({ link: createLink(), log, clock })) as [Peers, Peers]
    a.start()
    b.start()
    // They greet each other.
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    const here = addressOf('key', 'document', 'editor')
    const got: number[] = []
    for (const topic of ['awareness', 'editor'] as const)
      b.listen(topic, here, ([value = 0]) => got.push(value))
    const before = a.numbers.sentMessages
    for (const cursor of [1, 2, 3]) {
      a.send('awareness', here, Uint8Array.of(cursor))
      await nextTurn()
    }
    expect(got).toEqual([])
    clock.step(10)
    await nextTurn()
    expect(got).toEqual([1, 2, 3])
    a.send('awareness', here, Uint8Array.of(4))
    a.send('editor', here, Uint8Array.of(5))
    await nextTurn()
    expect(got).toEqual([1, 2, 3, 4, 5])
    clock.step(10)
    await nextTurn()
    expect(a.numbers.sentMessages - before).toBe(2)
  })

  test('[B1.6] a message goes only to the servers that have the address open, if this server knows them', async () => {
    const createLink = createMemoryLinks()
    const [a, b, ...others] = [1, 2, 3, 4, 5, 6].map(() => new Peers({ link: createLink(), log })) as [
      Peers,
      Peers,
      ...Peers[],
    ]
    const all = [a, b, ...others]
    for (const peers of all) peers.start()
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    const here = addressOf('key', 'document')
    const heard = async (send: () => void) => {
      const before = all.map(({ numbers }) => numbers.receivedMessages)
      send()
      await nextTurn()
      return all.map(({ numbers }, index) => numbers.receivedMessages - (before[index] ?? 0))
    }
    const sendHere = () => a.send('document', here, Uint8Array.of(1))

    expect(a.reaches(here)).toBe(true)
    expect(await heard(sendHere)).toEqual([0, 1, 1, 1, 1, 1])
    const audience: string[] = []
    const stop = a.setAudience(here, () => audience)
    expect(a.reaches(here)).toBe(false)
    expect(await heard(sendHere)).toEqual([0, 0, 0, 0, 0, 0])
    audience.push(b.serverId)
    expect(a.reaches(here)).toBe(true)
    expect(await heard(sendHere)).toEqual([0, 1, 0, 0, 0, 0])
    // What goes to all servers takes the rest with it.
    expect(
      await heard(() => {
        sendHere()
        a.send('document', here, Uint8Array.of(2), allServers)
      }),
    ).toEqual([0, 1, 1, 1, 1, 1])
    // One message to all is cheaper than one for each of most servers.
    for (const { serverId } of others.slice(0, 2)) audience.push(serverId)
    expect(await heard(sendHere)).toEqual([0, 1, 1, 1, 1, 1])
    stop()
    expect(await heard(sendHere)).toEqual([0, 1, 1, 1, 1, 1])
  })

  test('[B1.1] a server that stops or is silent for half a minute is gone, and one that sends is not', async () => {
    const createLink = createMemoryLinks()
    const clock = new SteppedClock()
    const make = () => new Peers({ link: createLink(), log, clock })
    const [a, b, silent] = [make(), make(), createLink()]
    const gone: string[] = []
    a.onServerGone((server) => gone.push(server))
    a.start()
    b.start()
    silent.start('silent..', idle)
    silent.send(Uint8Array.of(2, 8, ...Buffer.from(everywhere, 'latin1'), 1, 1))
    await nextTurn()
    expect(a.count).toBe(2)
    for (let seconds = 0; seconds < 33; seconds += 1) {
      clock.step(1_000)
      await nextTurn()
    }
    expect(gone).toEqual(['silent..'])
    let missed = 0
    a.onMessagesMissed(() => missed++)
    silent.send(Uint8Array.of(2, 8, ...Buffer.from(everywhere, 'latin1'), 1, 1))
    await nextTurn()
    expect([a.count, missed]).toEqual([2, 1])
    await b.stop()
    await nextTurn()
    expect(gone).toEqual(['silent..', b.serverId])
    expect(a.count).toBe(1)
  })

  test('[B1] garbage, and a listener that fails, do not keep later messages from being received', async () => {
    const createLink = createMemoryLinks()
    const [a, other] = [new Peers({ link: createLink(), log }), createLink()]
    const got: number[] = []
    a.listen('document', everywhere, (body) => {
      got.push(body[0] ?? -1)
      throw new Error('fails')
    })
    a.start()
    other.start('12345678', idle)
    const entry = (value: number) => [2, ...Buffer.from(everywhere, 'latin1'), 1, value]
    for (const garbage of [[], [2], [2, 2, 3], [9, ...entry(5)], [2, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
      other.send(Uint8Array.from(garbage))
    other.send(Uint8Array.of(2, ...entry(7), ...entry(8)))
    await nextTurn()
    expect(got).toEqual([7, 8])
  })
})
