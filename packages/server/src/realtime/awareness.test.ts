import * as encoding from 'lib0/encoding'
import { expect, test } from 'vitest'
import { AwarenessStates, type Owner } from './awareness.ts'

const owner = (sessionId: string, userId = 'ada'): Owner => ({ sessionId, userId, email: undefined })

const state = (client: number, clock: number, json: string) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1)
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  })

test('[R2] all states of an editor together have a bound; one that goes makes room', () => {
  const states = new AwarenessStates()
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
  const states = new AwarenessStates()
  expect(states.receive(owner('s1'), state(1, Number.MAX_SAFE_INTEGER, '{}'))).toBe('malformed')
  expect(states.receive(owner('s1'), state(1, 2 ** 32, '{}'))).toBe('changed')
  states.leave('s1')
  expect(states.receive(owner('s2'), state(1, 0, '{}'))).toBe('changed')
})
