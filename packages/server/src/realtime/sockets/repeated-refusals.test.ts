import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { Connection } from './connection.ts'
import { fingerprintOf, RepeatedRefusals } from './repeated-refusals.ts'

function given() {
  const clock = new SteppedClock()
  return { clock, refusals: new RepeatedRefusals({ clock, maxConnections: 100 }) }
}

test('[R46.1] a client that reconnects after each refusal is closed later each time, up to 15 s', () => {
  const { clock, refusals } = given()
  const delays = Array.from({ length: 8 }, () => {
    const delayMs = refusals.recordRefusal('ada')
    clock.step(delayMs + 100)
    return delayMs
  })
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  expect(refusals.recordRefusal('bob')).toBe(0)
})

test('[R46.1] a client that was not refused for a minute is closed without a delay at its next refusal', () => {
  const { clock, refusals } = given()
  refusals.recordRefusal('ada')
  clock.step(59_999)
  expect(refusals.recordRefusal('ada')).toBe(1_000)
  clock.step(61_000)
  expect(refusals.recordRefusal('ada')).toBe(0)
})

test('[R46.1] connections that a client opens in parallel count as one attempt', () => {
  const { clock, refusals } = given()
  const tabs = () => Array.from({ length: 5 }, () => refusals.recordRefusal('ada'))
  expect(tabs()).toEqual([0, 1_000, 1_000, 1_000, 1_000])
  clock.step(1_100)
  expect(tabs()).toEqual([2_000, 2_000, 2_000, 2_000, 2_000])
})

test('[R46.1] the server remembers the 10,000 clients that it refused last', () => {
  const { refusals } = given()
  for (let client = 0; client <= 10_000; client++) refusals.recordRefusal(`client ${client}`)
  expect(refusals.recordRefusal('client 10000')).toBe(1_000)
  expect(refusals.recordRefusal('client 0')).toBe(0)
})

test('[R46.3] at most 2,000 connections are delayed, however many LIMIT_CONNECTIONS allows', () => {
  const refusals = new RepeatedRefusals({ clock: new SteppedClock(), maxConnections: 100_000 })
  const counts = { closed: 0, delayed: 0 }
  let end = () => {}
  const connection = {
    ageMs: 0,
    close: () => counts.closed++,
    closeAfter(_delayMs: number, _reason: string, _message: string, onClosed: () => void) {
      counts.delayed++
      end = onClosed
    },
  } as unknown as Connection
  const refuse = () => refusals.refuse('ada', connection, 'permissionDenied', 'No access.')
  // The first refusal of a client is not delayed.
  for (let count = 0; count <= 2_000; count++) refuse()
  expect(counts).toEqual({ closed: 1, delayed: 2_000 })
  refuse()
  expect(counts).toEqual({ closed: 2, delayed: 2_000 })
  end()
  refuse()
  expect(counts).toEqual({ closed: 2, delayed: 2_001 })
})

test('[R46.1] a fingerprint distinguishes clients and does not contain the token', () => {
  const ada = fingerprintOf('10.0.0.1', 'org_1/doc_1/note', 'secret token')
  expect(ada).toBe(fingerprintOf('10.0.0.1', 'org_1/doc_1/note', 'secret token'))
  expect(ada).not.toContain('secret')
  expect(ada).not.toBe(fingerprintOf('10.0.0.2', 'org_1/doc_1/note', 'secret token'))
  expect(ada).not.toBe(fingerprintOf('10.0.0.1', 'org_1/doc_1/', 'notesecret token'))
})
