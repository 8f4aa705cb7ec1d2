import { setImmediate as nextIteration } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { stopTime } from '../../../test/support/clock.ts'
import { StartQueue } from './start-queue.ts'

/** Lets time pass, which holds the event loop. */
let beBusy: (ms: number) => void
beforeEach(async () => {
  beBusy = await stopTime()
})

test('[S5] long requests start one in each iteration of the event loop, and callers take turns', async () => {
  const turns = new StartQueue({ startsUntilLate: true })
  let iteration = 0
  let isOver = false
  const count = (async () => {
    for (; !isOver; iteration++) await nextIteration()
  })()
  const started: string[] = []
  const iterations: number[] = []
  const request = async (caller: string, name: string) => {
    await turns.enter(caller)
    started.push(name)
    iterations.push(iteration)
    beBusy(10)
  }
  expect(turns.enter('first')).toBeUndefined()
  beBusy(10)
  await Promise.all([
    request('a', 'a1'),
    request('a', 'a2'),
    request('a', 'a3'),
    request('b', 'b1'),
    request('c', 'c1'),
    request('b', 'b2'),
  ])
  isOver = true
  await count
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(new Set(iterations).size).toBe(6)
})

test('[S5] a request that arrives alone starts at once', async () => {
  expect(new StartQueue({ startsUntilLate: true }).enter('a')).toBeUndefined()
})
