import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { KeyTurns } from './key-turns.ts'

test('[S9] API keys take turns: a key with much work has one turn, and then waits behind the other keys', async () => {
  const left = new Map([
    ['a', 3],
    ['b', 1],
    ['c', 2],
  ])
  const order: string[] = []
  const turns = new KeyTurns(1, async (key) => {
    const count = left.get(key) ?? 0
    if (count === 0) return false
    await nextIteration()
    order.push(key)
    left.set(key, count - 1)
    return true
  })
  for (const key of left.keys()) turns.add(key)
  await turns.idle()
  expect(order).toEqual(['a', 'b', 'c', 'a', 'c', 'a'])
})

test('[S9] a key has one turn at a time, and one more turn if work is added meanwhile', async () => {
  let running = 0
  let count = 0
  const turns = new KeyTurns(10, async () => {
    expect(++running).toBe(1)
    if (++count === 1) for (let added = 0; added < 3; added++) turns.add('a')
    await nextIteration()
    running--
    return false
  })
  turns.add('a')
  await turns.idle()
  expect(count).toBe(2)
  turns.add('a')
  await turns.idle()
  expect(count).toBe(3)
})
