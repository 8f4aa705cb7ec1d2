import { setImmediate as nextIteration } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { freeIteration } from '../../../test/support/measures/event-loop.ts'
import { StartQueue } from './start-queue.ts'

beforeEach(freeIteration)

const beBusy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('[S5] long requests start one in each iteration of the event loop, and callers take turns', async () => {
  const turns = new StartQueue({ startsUntilLate: true })
  await freeIteration()
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
  // Others may take the processor during an iteration, which is late then.
  await expect
    .poll(async () => {
      await freeIteration()
      return { waits: new StartQueue({ startsUntilLate: true }).enter('a') }
    })
    .toEqual({ waits: undefined })
})
