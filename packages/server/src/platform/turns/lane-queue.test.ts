import { expect, test } from 'vitest'
import { LaneQueue } from './lane-queue.ts'

test('[S1] the lanes of a queue take turns, and the items of a lane keep their order', () => {
  const queue = new LaneQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.charAt(0), item)
  const taken: string[] = []
  while (!queue.isEmpty) {
    taken.push(queue.take() as string)
    if (taken.length === 2) queue.add('d', 'd1')
  }
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'd1', 'a3'])
  expect(queue.take()).toBeUndefined()
})
