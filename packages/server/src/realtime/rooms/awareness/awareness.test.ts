import * as encoding from 'lib0/encoding'
import { describe, expect, test, vi } from 'vitest'
import { AwarenessStates, type AwarenessOwner } from './awareness.ts'
import { ByteBudget } from '../../../platform/turns/byte-budget.ts'
import { BytePace } from '../../../platform/turns/byte-pace.ts'

const owner = (sessionId: string, userId = 'ada'): AwarenessOwner => ({
  sessionId,
  userId,
  email: undefined,
  isWriter: true,
  pace: new BytePace(32 * 1024),
  keep: () => true,
})

const state = (client: number, clock: number, json: string) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1)
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  })

const large = JSON.stringify({ cursor: 'x'.repeat(16_000) })

/** All changes, message by message. */
function messagesOf(states: AwarenessStates): { bytes: number; clients: number[] }[] {
  const messages = []
  for (let part = states.takeChanges(); part.clients.length > 0; part = states.takeChanges()) {
    messages.push({ bytes: part.update.length, clients: part.clients })
  }
  return messages
}

describe('awareness states', () => {
  test('[R35] [S2] are sent in messages of limited size, however many there are', () => {
    const states = new AwarenessStates(() => undefined)
    for (let client = 0; client < 100; client++) {
      states.receive(owner(`s${client}`), state(client, 1, large))
    }
    const messages = messagesOf(states)
    expect(messages.flatMap(({ clients }) => clients)).toHaveLength(100)
    for (const { bytes } of messages) expect(bytes).toBeLessThan(5 * 16_384)
    const unsent = new Set(states.clients)
    expect(unsent.size).toBe(100)
    for (let left = 100; unsent.size > 0; left = unsent.size) {
      expect(states.takeStates(unsent).length).toBeLessThan(5 * 16_384)
      expect(unsent.size).toBeLessThan(left)
    }
  })

  test('[R35.1] of editors are sent before the states of viewers', () => {
    const states = new AwarenessStates(() => undefined)
    for (let client = 0; client < 20; client++) {
      states.receive({ ...owner(`s${client}`), isWriter: false }, state(client, 1, large))
    }
    states.receive(owner('editor'), state(99, 1, '{}'))
    expect(states.takeChanges().clients[0]).toBe(99)
  })

  test('[R35.2] of one session are sent at up to 32 KiB per second after a burst, even if it leaves and comes back', () => {
    vi.useFakeTimers()
    try {
      const states = new AwarenessStates(() => undefined)
      const eve = owner('s1')
      let sent = 0
      for (let clock = 1; clock <= 600; clock++) {
        states.receive(eve, state(1, clock, clock % 2 === 0 ? large : 'null'))
        for (const { bytes } of messagesOf(states)) sent += bytes
        vi.advanceTimersByTime(15)
      }
      expect(sent).toBeLessThan(12 * 32 * 1024)
      states.receive(eve, state(1, 1_000, '{"newest":true}'))
      vi.advanceTimersByTime(1_000)
      expect(messagesOf(states)).toMatchObject([{ clients: [1] }])
      expect(states.takeChanges().clients).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('[R34.2] beyond the limit of the connection are ignored, until a state is removed', () => {
    const states = new AwarenessStates(() => undefined)
    const budget = new ByteBudget(40_000)
    const session = (sessionId: string): AwarenessOwner => {
      const keeper = {}
      return { ...owner(sessionId), keep: (bytes) => budget.reserve(keeper, bytes) }
    }
    const sessions = [session('s0'), session('s1'), session('s2')] as const
    expect(states.receive(sessions[0], state(0, 1, large))).toBe('changed')
    expect(states.receive(sessions[1], state(1, 1, large))).toBe('changed')
    expect(states.receive(sessions[2], state(2, 1, '{}'))).toBe('changed')
    expect(states.receive(sessions[2], state(2, 2, large))).toBe('renewed')
    states.leave('s0')
    expect(states.receive(sessions[2], state(2, 3, large))).toBe('changed')
    expect([...states.clients]).toEqual([1, 2])
  })

  test('[R34.2] above 16 KiB are refused, except in echoes of other clients', () => {
    const states = new AwarenessStates(() => undefined)
    const tooLarge = JSON.stringify({ cursor: 'x'.repeat(16_384) })
    expect(states.receive(owner('s1'), state(1, 1, tooLarge))).toBe('tooLarge')
    expect(states.receive(owner('s1'), state(1, 1, '{}'))).toBe('changed')
    expect(states.receive(owner('s1'), state(2, 1, tooLarge))).toBe('renewed')
  })
})

test('[R2] an awareness clock that cannot be incremented is malformed', () => {
  const states = new AwarenessStates(() => undefined)
  expect(states.receive(owner('s1'), state(1, Number.MAX_SAFE_INTEGER, '{}'))).toBe('malformed')
  expect(states.receive(owner('s1'), state(1, 2 ** 32, '{}'))).toBe('changed')
  states.leave('s1')
  expect(states.receive(owner('s2'), state(1, 0, '{}'))).toBe('changed')
})

describe('client ids without an owner', () => {
  const ada = owner('s1', 'ada')
  const viewer = (sessionId: string): AwarenessOwner => ({ ...owner(sessionId, 'vic'), isWriter: false })
  const nameIn = (states: AwarenessStates) =>
    /"name":"(\w+)"/.exec(Buffer.from(states.takeStates(new Set(states.clients))).toString())?.[1]

  test('[R31.2] stay with an editor who left, however many viewers connect and leave', () => {
    const states = new AwarenessStates(() => undefined)
    states.receive(ada, state(1, 5, '{"name":"Ada"}'))
    states.leave('s1')
    for (let session = 0; session < 2_000; session++) {
      states.receive(viewer(`v${session}`), state(100 + session, 1, '{}'))
      states.leave(`v${session}`)
    }
    expect(states.receive(viewer('v'), state(1, 1_000, '{"name":"Vic"}'))).toBe('renewed')
    expect([...states.clients]).toEqual([])
    expect(states.receive(owner('s2', 'ada'), state(1, 6, '{"name":"Ada"}'))).toBe('changed')
  })

  test('[R31.2] move from a viewer to an editor, whatever the clock of the viewer', () => {
    const states = new AwarenessStates(() => undefined)
    states.receive(viewer('v'), state(1, 2 ** 32, '{"name":"Vic"}'))
    expect(states.receive(ada, state(1, 1, '{"name":"Ada"}'))).toBe('changed')
    expect(nameIn(states)).toBe('Ada')
    expect(states.receive(viewer('v'), state(1, 2 ** 32, '{"name":"Vic"}'))).toBe('renewed')
    states.leave('v')
    expect(nameIn(states)).toBe('Ada')
    expect(states.receive(ada, state(1, 2, '{"name":"Augusta"}'))).toBe('changed')
    expect(nameIn(states)).toBe('Augusta')
  })
})
