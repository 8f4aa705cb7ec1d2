import { expect, test } from 'vitest'
import { OutOfOrderBuffer } from './out-of-order-buffer.ts'

const update = (bytes = 1) => ({ update: new Uint8Array(bytes) })
const always = () => true

test('[R8.4] an update that arrives out of order is retried only after its missing update has arrived', () => {
  const buffer = new OutOfOrderBuffer<{ update: Uint8Array }>()
  const [first, second] = [update(), update()]
  buffer.hold(first, { client: 1, clock: 5 })
  buffer.hold(second, { client: 2, clock: 1 })
  buffer.onClockAdvanced(1, 4)
  buffer.onClockAdvanced(3, 100)
  expect(buffer.takeReady(always)).toBeUndefined()
  buffer.onClockAdvanced(1, 5)
  expect(buffer.takeReady(() => false)).toBeUndefined()
  expect(buffer.takeReady(always)?.item).toBe(first)
  buffer.onClockAdvanced(2, 9)
  expect(buffer.takeReady(always)?.item).toBe(second)
  expect(buffer.takeReady(always)).toBeUndefined()
})

test('[S2] an update that misses another update at every attempt is dropped after a few attempts', () => {
  const buffer = new OutOfOrderBuffer<{ update: Uint8Array }>()
  buffer.hold(update(), { client: 1, clock: 1 })
  let attempts = 1
  for (let isHeld = true; isHeld; attempts++) {
    buffer.onClockAdvanced(1, attempts)
    isHeld = buffer.takeReady(always)?.holdAgain({ client: 1, clock: attempts + 1 }) === true
  }
  expect(attempts).toBeLessThan(20)
  expect(buffer.takeExpired(Infinity)).toEqual([])
})

test('[R8.4] the out-of-order buffer holds at most 64 updates and 64 KiB, each update for two seconds', () => {
  const buffer = new OutOfOrderBuffer<{ update: Uint8Array }>()
  const missing = { client: 1, clock: 1 }
  expect(buffer.hold(update(60_000), missing, 0)).toBe(true)
  expect(buffer.hold(update(60_000), missing, 0)).toBe(false)
  for (let held = 1; held < 64; held++) expect(buffer.hold(update(), missing, 1_000)).toBe(true)
  expect(buffer.hold(update(), missing, 1_000)).toBe(false)
  buffer.onClockAdvanced(1, 1)
  expect(buffer.takeExpired(2_001)).toHaveLength(1)
  expect(buffer.hold(update(60_000), missing, 2_001)).toBe(true)
  expect(buffer.takeExpired(3_001)).toHaveLength(63)
})
