import { expect, test } from 'vitest'
import { EarlyUpdates } from './out-of-order-buffer.ts'

const update = (bytes = 1) => ({ update: new Uint8Array(bytes) })
const always = () => true

test('[R8.4] an early update is tried again when what it lacks has arrived, and not before', () => {
  const early = new EarlyUpdates<{ update: Uint8Array }>()
  const [first, second] = [update(), update()]
  early.hold(first, { client: 1, clock: 5 })
  early.hold(second, { client: 2, clock: 1 })
  early.arrived(1, 4)
  early.arrived(3, 100)
  expect(early.takeReady(always)).toBeUndefined()
  early.arrived(1, 5)
  expect(early.takeReady(() => false)).toBeUndefined()
  expect(early.takeReady(always)?.item).toBe(first)
  early.arrived(2, 9)
  expect(early.takeReady(always)?.item).toBe(second)
  expect(early.takeReady(always)).toBeUndefined()
})

test('[S2] an early update that lacks one thing after the other is given up', () => {
  const early = new EarlyUpdates<{ update: Uint8Array }>()
  early.hold(update(), { client: 1, clock: 1 })
  let attempts = 1
  for (let isHeld = true; isHeld; attempts++) {
    early.arrived(1, attempts)
    isHeld = early.takeReady(always)?.holdAgain({ client: 1, clock: attempts + 1 }) === true
  }
  expect(attempts).toBeLessThan(20)
  expect(early.takeExpired(Infinity)).toEqual([])
})

test('[R8.4] early updates are few and small, and wait for two seconds', () => {
  const early = new EarlyUpdates<{ update: Uint8Array }>()
  const missing = { client: 1, clock: 1 }
  expect(early.hold(update(60_000), missing, 0)).toBe(true)
  expect(early.hold(update(60_000), missing, 0)).toBe(false)
  for (let held = 1; held < 64; held++) expect(early.hold(update(), missing, 1_000)).toBe(true)
  expect(early.hold(update(), missing, 1_000)).toBe(false)
  early.arrived(1, 1)
  expect(early.takeExpired(2_001)).toHaveLength(1)
  expect(early.hold(update(60_000), missing, 2_001)).toBe(true)
  expect(early.takeExpired(3_001)).toHaveLength(63)
})
