import * as encoding from 'lib0/encoding'
import { describe, expect, test, vi } from 'vitest'
import { AwarenessStates, type AwarenessOwner } from './awareness.ts'
import { ByteBudget } from '../../../platform/turns/byte-budget.ts'
import { BytePace } from '../../../platform/turns/byte-pace.ts'

const owner = (sessionId: string, userId = 'ada'): AwarenessOwner => ({
  sessionId,
  openedAt: 0,
  userId,
  email: undefined,
  hasWriteRole: true,
  pace: new BytePace(32 * 1024),
  tryReserve: () => true,
})

const state = (clientId: number, clock: number, json: string) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1)
    encoding.writeVarUint(encoder, clientId)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  })

const large = JSON.stringify({ cursor: 'x'.repeat(16_000) })

/** Takes all changes, message by message. */
function messagesOf(states: AwarenessStates): { bytes: number; clientIds: number[] }[] {
  const messages = []
  for (let part = states.takeChanges(); part.clientIds.length > 0; part = states.takeChanges()) {
    messages.push({ bytes: part.update.length, clientIds: part.clientIds })
  }
  return messages
}

describe('awareness states', () => {
  test('[R35] [S2] awareness states are sent in messages of limited size, however many there are', () => {
    const states = new AwarenessStates(() => undefined)
    for (let clientId = 0; clientId < 100; clientId++) {
      states.receive(owner(`s${clientId}`), state(clientId, 1, large))
    }
    const messages = messagesOf(states)
    expect(messages.flatMap(({ clientIds }) => clientIds)).toHaveLength(100)
    for (const { bytes } of messages) expect(bytes).toBeLessThan(5 * 16_384)
    const unsent = new Set(states.clientIds)
    expect(unsent.size).toBe(100)
    for (let left = 100; unsent.size > 0; left = unsent.size) {
      expect(states.takeStates(unsent).length).toBeLessThan(5 * 16_384)
      expect(unsent.size).toBeLessThan(left)
    }
  })

  test('[R35.1] the state of an editor is sent before the states of viewers that wait', () => {
    const states = new AwarenessStates(() => undefined)
    for (let clientId = 0; clientId < 20; clientId++) {
      states.receive({ ...owner(`s${clientId}`), hasWriteRole: false }, state(clientId, 1, large))
    }
    states.receive(owner('editor'), state(99, 1, '{}'))
    expect(states.takeChanges().clientIds[0]).toBe(99)
  })

  test('[R35.2] the states of one session are sent at up to 32 KiB per second after a burst, even if it removes and sets its state in turns', () => {
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
      expect(messagesOf(states)).toMatchObject([{ clientIds: [1] }])
      expect(states.takeChanges().clientIds).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('[R34.2] a state beyond the limit of the connection is ignored until another state is removed', () => {
    const states = new AwarenessStates(() => undefined)
    const budget = new ByteBudget(40_000)
    const session = (sessionId: string): AwarenessOwner => {
      const keeper = {}
      return { ...owner(sessionId), tryReserve: (bytes) => budget.reserve(keeper, bytes) }
    }
    const sessions = [session('s0'), session('s1'), session('s2')] as const
    expect(states.receive(sessions[0], state(0, 1, large))).toBe('changed')
    expect(states.receive(sessions[1], state(1, 1, large))).toBe('changed')
    expect(states.receive(sessions[2], state(2, 1, '{}'))).toBe('changed')
    expect(states.receive(sessions[2], state(2, 2, large))).toBe('renewed')
    states.leave('s0')
    expect(states.receive(sessions[2], state(2, 3, large))).toBe('changed')
    expect([...states.clientIds]).toEqual([1, 2])
  })

  test('[R34.2] a state above 16 KiB is refused, but ignored if it is for another Yjs client id than that of the session', () => {
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

describe('Yjs client ids without an owner', () => {
  const ada = owner('s1', 'ada')
  const viewer = (sessionId: string): AwarenessOwner => ({ ...owner(sessionId, 'vic'), hasWriteRole: false })
  const nameIn = (states: AwarenessStates) =>
    /"name":"(\w+)"/.exec(Buffer.from(states.takeStates(new Set(states.clientIds))).toString())?.[1]

  test('[R31.2] a Yjs client id stays with an editor who left, however many viewers connect and leave', () => {
    const states = new AwarenessStates(() => undefined)
    states.receive(ada, state(1, 5, '{"name":"Ada"}'))
    states.leave('s1')
    for (let session = 0; session < 2_000; session++) {
      states.receive(viewer(`v${session}`), state(100 + session, 1, '{}'))
      states.leave(`v${session}`)
    }
    expect(states.receive(viewer('v'), state(1, 1_000, '{"name":"Vic"}'))).toBe('renewed')
    expect([...states.clientIds]).toEqual([])
    expect(states.receive(owner('s2', 'ada'), state(1, 6, '{"name":"Ada"}'))).toBe('changed')
  })

  test('[R31.2] a Yjs client id moves from a viewer to an editor, whatever the clock of the viewer', () => {
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
