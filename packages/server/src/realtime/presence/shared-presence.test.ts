import { describe, expect, test } from 'vitest'
import type { PresentUser } from '@plenum/protocol/realtime'
import { addressOf, Peers } from '../../peers/peers.ts'
import { SharedLists } from '../../peers/shared-lists.ts'
import { systemClock } from '../../platform/clock.ts'
import { createMemoryLinks } from '../../platform/server-link/memory-link.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import type { PresenceEntry } from '../../store/documents/presence.ts'
import { eventually } from '../../../test/support/clients/convergence.ts'
import { expectShortIterations, realElapsed } from '../../../test/support/measures/loop-work.ts'
import { LivePresence } from './live-presence.ts'
import type { IdentityHolder } from './present-person.ts'

/** `expectShortIterations` moves the time of the system's clock. */
const clock = { ...systemClock, elapsed: realElapsed }
const log = { debug() {}, info() {}, warn() {}, error() {} }
const clientOf = (userId: string): IdentityHolder => ({
  identity: { userId, name: `Name of ${userId}`, email: undefined, look: { color: '#364fc7' } },
  hasWriteRole: true,
})

/** The presence of one document on two servers. `rows` are the entries of backends in their database. */
async function createScene(now = Date.now) {
  const createLink = createMemoryLinks()
  const rows: PresenceEntry[] = []
  const start = () => {
    const peers = new Peers({ link: createLink(), log, clock })
    const lists = new SharedLists({ peers, clock, log })
    const scheduler = new Scheduler()
    const owner = { apiKey: 'k1', userId: 'document' }
    const presence = new LivePresence({
      now,
      run: (steps) => scheduler.scheduleSteps(owner, steps, () => {}),
      onError: () => {},
      read: async (userIds) => rows.filter(({ userId }) => userIds?.includes(userId) ?? true),
      share: (source) => lists.create('presence', addressOf('k1', 'd1'), source),
    })
    peers.start()
    const all = () => JSON.parse(presence.all().json) as PresentUser[]
    const shown = () => Object.fromEntries(all().map((user) => [user.userId, user.source]))
    return { presence, all, shown }
  }
  const servers = [start(), start()] as const
  await new Promise(setImmediate)
  return { a: servers[0], b: servers[1], rows }
}

describe('the presence list on two servers', () => {
  test('[B4] [R12.5] between clients on one server and backends the latest update wins on all servers, in whatever order they learn of it', async () => {
    const { a, b, rows } = await createScene()
    for (const { presence } of [a, b]) presence.open()
    const ada = clientOf('ada')
    a.presence.enter(ada, true)
    await eventually(b.shown).toEqual({ ada: 'client' })
    rows.push({
      userId: 'ada',
      look: { color: '#364fc7' },
      status: 'away',
      source: 'rest',
      lastUpdated: Date.now(),
    })
    await b.presence.backendChanged(['ada'], false)
    await a.presence.backendChanged(['ada'], false)
    for (const { shown } of [a, b]) await eventually(shown).toEqual({ ada: 'rest' })
    // The server of the client learns first that the entry is removed, and the client sends a message after that.
    rows.length = 0
    await a.presence.backendChanged(['ada'], true)
    await eventually(a.shown).toEqual({})
    a.presence.touch(ada)
    await eventually(a.shown).toEqual({ ada: 'client' })
    await b.presence.backendChanged(['ada'], true)
    await eventually(b.shown).toEqual({ ada: 'client' })
    // Both know that the user is hidden until the next message.
    for (const { presence } of [a, b]) await presence.backendChanged(['ada'], true)
    for (const { shown } of [a, b]) await eventually(shown).toEqual({})
    a.presence.touch(ada)
    for (const { shown } of [a, b]) await eventually(shown).toEqual({ ada: 'client' })
  })

  test('[B4] servers whose user is active on both at the same time show the same client', async () => {
    const { a, b } = await createScene(() => 1_000_000)
    const clients = [clientOf('ada'), clientOf('ada')] as const
    for (const [index, { presence }] of [a, b].entries()) {
      presence.open()
      presence.enter(clients[index as 0], true)
    }
    for (let round = 0; round < 20; round++) {
      a.presence.set(clients[0], { status: undefined, data: `{"a":${round}}` })
      b.presence.set(clients[1], { status: undefined, data: `{"b":${round}}` })
      const data = () => [a, b].map(({ all }) => JSON.stringify(all()[0]?.data))
      await eventually(() => new Set(data()).size === 1 && data()[0]?.includes(`:${round}}`)).toBe(true)
    }
  })

  test('[B4.9] [S2] servers exchange 4,000 entries without blocking the event loop', async () => {
    const { a, b } = await createScene()
    const clients = Array.from({ length: 4_000 }, (_, number) => clientOf(`u${number}`))
    for (const client of clients) a.presence.enter(client, true)
    const isShown = ({ presence }: typeof a, userId: string) =>
      presence.takeFields(new Set([userId])).includes('onlineStatus')
    await eventually(() => isShown(a, 'u3999')).toBe(true)
    const exchange = async () => {
      for (const { presence } of [a, b]) presence.open()
      await eventually(() => isShown(b, 'u3999')).toBe(true)
    }
    // All entries together have about half a megabyte.
    await expectShortIterations(exchange, { jsonBytes: 64 * 1024 })
    expect(clients.every(({ identity }) => isShown(b, identity.userId))).toBe(true)
  })
})
