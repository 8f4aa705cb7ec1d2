import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { whenCertain } from './certainty.ts'

/** Lets promises that are settled already run what waits for them. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('[O2] a write without an answer is certain one second after the database answers again', async () => {
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

test('[O2] a database that stays unreachable is given up after 600 pings', async () => {
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
