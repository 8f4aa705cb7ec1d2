import * as encoding from 'lib0/encoding'
import { describe, expect, test } from 'vitest'
import { AwarenessStates, type Owner } from './awareness.ts'

const owner = (sessionId: string, userId = 'ada'): Owner => ({
  sessionId,
  userId,
  email: undefined,
  isWriter: true,
})

const state = (client: number, clock: number, json: string) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1)
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  })

test('[R2] all states of an editor together have a bound; one that goes makes room', () => {
  const states = new AwarenessStates(() => undefined)
  const large = JSON.stringify({ cursor: 'x'.repeat(60_000) })
  for (let session = 0; session < 30; session++)
    states.receive(owner(`s${session}`), state(session, 1, large))
  expect(states.size).toBe(8)
  expect(states.all().length).toBeLessThan(520_000)
  expect(states.receive(owner('s20'), state(20, 2, '{}'))).toBe('changed')
  expect(states.receive(owner('s20'), state(20, 3, large))).toBe('renewed')
  states.leave('s0')
  expect(states.receive(owner('s20'), state(20, 4, large))).toBe('changed')
  expect(states.receive(owner('s20'), state(20, 5, '{}'))).toBe('changed')
  expect(states.receive(owner('s21'), state(21, 5, large))).toBe('changed')
})

test('[R2] a clock that cannot be counted on is malformed', () => {
  const states = new AwarenessStates(() => undefined)
  expect(states.receive(owner('s1'), state(1, Number.MAX_SAFE_INTEGER, '{}'))).toBe('malformed')
  expect(states.receive(owner('s1'), state(1, 2 ** 32, '{}'))).toBe('changed')
  states.leave('s1')
  expect(states.receive(owner('s2'), state(1, 0, '{}'))).toBe('changed')
})

describe('client ids that nobody has written with', () => {
  const ada = owner('s1', 'ada')
  const viewer = (sessionId: string): Owner => ({ ...owner(sessionId, 'vic'), isWriter: false })
  const nameIn = (states: AwarenessStates) => /"name":"(\w+)"/.exec(Buffer.from(states.all()).toString())?.[1]

  test('[R31] stay with an editor who left, however many viewers come and go', () => {
    const states = new AwarenessStates(() => undefined)
    states.receive(ada, state(1, 5, '{"name":"Ada"}'))
    states.leave('s1')
    for (let session = 0; session < 2_000; session++) {
      states.receive(viewer(`v${session}`), state(100 + session, 1, '{}'))
      states.leave(`v${session}`)
    }
    expect(states.receive(viewer('v'), state(1, 1_000, '{"name":"Vic"}'))).toBe('renewed')
    expect(states.size).toBe(0)
    expect(states.receive(owner('s2', 'ada'), state(1, 6, '{"name":"Ada"}'))).toBe('changed')
  })

  test('[R31] go from a viewer to an editor, whatever clock the viewer counted to', () => {
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
