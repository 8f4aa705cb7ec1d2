import { setImmediate as nextIteration } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { onConnectionAccepted, isLoopLate } from './loop-time.ts'

/** Lets time pass, which holds the event loop. */
let beBusy: (ms: number) => void
beforeEach(async () => {
  beBusy = await stopTime()
})

test('[S5] an iteration of the event loop is late after 8 ms, so is the next one, and the one after it is not', async () => {
  await nextIteration()
  expect(isLoopLate()).toBe(false)
  beBusy(9)
  expect(isLoopLate()).toBe(true)
  await Promise.resolve()
  expect(isLoopLate()).toBe(true)
  await nextIteration()
  expect(isLoopLate()).toBe(true)
  await nextIteration()
  expect(isLoopLate()).toBe(false)
})

test('[S5] after a short iteration of the event loop the next one is not late', async () => {
  await nextIteration()
  expect(isLoopLate(0)).toBe(false)
  beBusy(1)
  expect(isLoopLate(0)).toBe(true)
  await nextIteration()
  expect(isLoopLate(0)).toBe(false)
})

test('[S5.1] an iteration of the event loop is late after 1 ms while clients connect, but not 26 ms after the last client connected', async () => {
  await nextIteration()
  onConnectionAccepted()
  expect(isLoopLate()).toBe(false)
  beBusy(1)
  expect(isLoopLate()).toBe(true)
  beBusy(25)
  await nextIteration()
  await nextIteration()
  isLoopLate()
  beBusy(1)
  expect(isLoopLate()).toBe(false)
})
