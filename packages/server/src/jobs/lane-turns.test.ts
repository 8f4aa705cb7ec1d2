import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LaneTurns } from './lane-turns.ts'

test('[S9] API keys take turns, and so do the lanes of a key: a lane with much work waits behind the others after each turn', async () => {
  const left = new Map([
    ['a/1', 3],
    ['a/2', 2],
    ['b/1', 1],
    ['c/1', 3],
  ])
  const order: string[] = []
  const turns = new LaneTurns(1, async ({ apiKey, lane }) => {
    const name = `${apiKey}/${lane}`
    const count = left.get(name) ?? 0
    if (count === 0) return false
    await nextIteration()
    order.push(name)
    left.set(name, count - 1)
    return true
  })
  for (const name of left.keys()) turns.add({ apiKey: name[0] as string, lane: name[2] as string })
  await turns.idle()
  expect(order).toEqual(['a/1', 'a/2', 'b/1', 'c/1', 'a/1', 'a/2', 'c/1', 'a/1', 'c/1'])
})

test('[S9] a lane has one turn at a time, and one more turn if work is added meanwhile', async () => {
  const lane = { apiKey: 'a', lane: '' }
  let running = 0
  let count = 0
  const turns = new LaneTurns(10, async () => {
    expect(++running).toBe(1)
    if (++count === 1) for (let added = 0; added < 3; added++) turns.add(lane)
    await nextIteration()
    running--
    return false
  })
  turns.add(lane)
  await turns.idle()
  expect(count).toBe(2)
  turns.add(lane)
  await turns.idle()
  expect(count).toBe(3)
})
