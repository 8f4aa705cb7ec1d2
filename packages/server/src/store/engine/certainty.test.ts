import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { whenCertain } from './certainty.ts'

/** Runs the callbacks of promises that are settled. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('[O2] whether a write without an answer took effect is certain one second after the database answers again', async () => {
  const clock = new SteppedClock()
  let isUp = false
  let pings = 0
  let isCertain = false
  const ping = async () => {
    pings++
    if (!isUp) throw new Error('down')
  }
  void whenCertain({ ping }, clock).then(() => (isCertain = true))
  for (let second = 0; second < 30; second++) {
    clock.step(1_000)
    await settle()
  }
  expect([pings, isCertain]).toEqual([30, false])
  isUp = true
  clock.step(1_000)
  await settle()
  expect([pings, isCertain]).toEqual([31, false])
  clock.step(999)
  await settle()
  expect(isCertain).toBe(false)
  clock.step(1)
  await settle()
  expect([pings, isCertain]).toEqual([31, true])
})

test('[O2] waiting for certainty about a write ends after 600 pings that the database did not answer', async () => {
  const clock = new SteppedClock()
  let pings = 0
  let isCertain = false
  const ping = () => {
    pings++
    return Promise.reject(new Error('down'))
  }
  void whenCertain({ ping }, clock).then(() => (isCertain = true))
  for (let second = 0; second < 601; second++) {
    expect(isCertain).toBe(false)
    clock.step(1_000)
    await settle()
  }
  expect([pings, isCertain, clock.pending]).toEqual([600, true, 0])
})
