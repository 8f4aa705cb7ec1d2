import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Gate } from './gate.ts'

test('[R16.5] lets so many in at a time, lane by lane, and goes on after failures', async () => {
  const gate = new Gate(2)
  const inside = new Map<string, () => void>()
  const order: string[] = []
  const enter = (lane: string, name: string) =>
    gate
      .pass(lane, () => {
        order.push(name)
        return new Promise<void>((resolve, reject) =>
          inside.set(name, name === 'a2' ? () => reject(new Error('no')) : resolve),
        )
      })
      .catch(() => {})
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void enter('a', name)
  for (const name of ['b1', 'b2']) void enter('b', name)
  const leave = async (name: string) => {
    inside.get(name)?.()
    await setImmediate()
  }
  expect(order).toEqual(['a1', 'a2'])
  for (const name of ['a2', 'a1', 'a3', 'b1', 'a4', 'b2', 'a5']) await leave(name)
  expect(order).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5'])
  await Promise.all([enter('c', 'c1'), enter('c', 'c2'), leave('c1'), leave('c2')])
  expect(order.slice(-2)).toEqual(['c1', 'c2'])
})
