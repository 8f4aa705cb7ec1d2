import { expect, test } from 'vitest'
import { OutOfOrderUpdates } from './out-of-order-updates.ts'

test('[R8.4] a sync step 2 settles the out-of-order updates that arrived before it, and no later ones', () => {
  const updates = new OutOfOrderUpdates()
  const [first, step2, last] = [updates.nextArrival(), updates.nextArrival(), updates.nextArrival()] as const
  updates.add(last, 9)
  // The numbers that clients choose may be equal.
  updates.add(first, 9)
  expect(updates.takeBefore(step2)).toEqual([9])
  expect(updates.takeBefore(step2)).toEqual([])
  expect(updates.takeBefore(updates.nextArrival())).toEqual([9])
})

test('[R8.4] at most 10,000 out-of-order updates of a client wait', () => {
  const updates = new OutOfOrderUpdates()
  for (let number = 0; number < 10_000; number++)
    expect(updates.add(updates.nextArrival(), number)).toBe(true)
  expect(updates.add(updates.nextArrival(), 10_000)).toBe(false)
})
