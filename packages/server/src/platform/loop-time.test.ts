import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isLoopLate } from './loop-time.ts'

const beBusy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('[S5] an iteration of the event loop is late after 8 ms, and the next one begins anew', async () => {
  await nextIteration()
  expect(isLoopLate()).toBe(false)
  beBusy(9)
  expect(isLoopLate()).toBe(true)
  await Promise.resolve()
  expect(isLoopLate()).toBe(true)
  await nextIteration()
  expect(isLoopLate()).toBe(false)
})
