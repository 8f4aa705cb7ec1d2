import { expect, test } from 'vitest'
import { fingerprintOf, RepeatedRefusals } from './repeated-refusals.ts'

function given() {
  const clock = { ms: 1_000_000 }
  return { clock, refusals: new RepeatedRefusals({ now: () => clock.ms, maxConnections: 100 }) }
}

test('[R46.1] a client that comes back after each refusal is closed later each time, up to 15 s', () => {
  const { clock, refusals } = given()
  const delays = Array.from({ length: 8 }, () => {
    const delayMs = refusals.delayOf('ada')
    clock.ms += delayMs + 100
    return delayMs
  })
  expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  expect(refusals.delayOf('bob')).toBe(0)
})

test('[R46.1] a client that was not refused for a minute starts again', () => {
  const { clock, refusals } = given()
  refusals.delayOf('ada')
  clock.ms += 59_999
  expect(refusals.delayOf('ada')).toBe(1_000)
  clock.ms += 61_000
  expect(refusals.delayOf('ada')).toBe(0)
})

test('[R46.1] connections that a client opens side by side count as one attempt', () => {
  const { clock, refusals } = given()
  const tabs = () => Array.from({ length: 5 }, () => refusals.delayOf('ada'))
  expect(tabs()).toEqual([0, 1_000, 1_000, 1_000, 1_000])
  clock.ms += 1_100
  expect(tabs()).toEqual([2_000, 2_000, 2_000, 2_000, 2_000])
})

test('[R46.1] the 10,000 clients that were refused last are remembered', () => {
  const { refusals } = given()
  for (let client = 0; client <= 10_000; client++) refusals.delayOf(`client ${client}`)
  expect(refusals.delayOf('client 10000')).toBe(1_000)
  expect(refusals.delayOf('client 0')).toBe(0)
})

test('[R46.1] a fingerprint tells clients apart and does not contain the token', () => {
  const ada = fingerprintOf('10.0.0.1', 'org_1/doc_1/note', 'secret token')
  expect(ada).toBe(fingerprintOf('10.0.0.1', 'org_1/doc_1/note', 'secret token'))
  expect(ada).not.toContain('secret')
  expect(ada).not.toBe(fingerprintOf('10.0.0.2', 'org_1/doc_1/note', 'secret token'))
  expect(ada).not.toBe(fingerprintOf('10.0.0.1', 'org_1/doc_1/', 'notesecret token'))
})
