import { setImmediate as nextIteration } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { freeIteration } from '../../../test/support/event-loop.ts'
import { connectionAccepted, isLoopLate } from './loop-time.ts'

beforeEach(freeIteration)

const beBusy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('[S5] an iteration of the event loop is late after 8 ms, the next one rests, and the one after it begins anew', async () => {
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

test('[S5] a short iteration is followed by a new one', async () => {
  await nextIteration()
  expect(isLoopLate(0)).toBe(false)
  beBusy(1)
  expect(isLoopLate(0)).toBe(true)
  await nextIteration()
  expect(isLoopLate(0)).toBe(false)
})

test('[S5.1] while clients connect, an iteration is late after 0.1 ms', async () => {
  await nextIteration()
  connectionAccepted()
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
