import { expect, test } from 'vitest'
import { AwaitedItems } from './awaited-items.ts'
import type { Member } from './member.ts'

function scene() {
  const asked: string[] = []
  const member = (name: string) => ({ requestMissingUpdates: () => asked.push(name) }) as unknown as Member
  return { asked, member, items: new AwaitedItems() }
}

test('[R8.7] a member is asked once when items of a client arrive that it waits for', () => {
  const { asked, member, items } = scene()
  const ada = member('ada')
  items.add(ada, [1, 2])
  items.add(ada, [1])
  items.onArrived(3)
  expect(asked).toEqual([])
  items.onArrived(1)
  items.onArrived(1)
  expect(asked).toEqual(['ada'])
})

test('[R8.7] a member that has left is not asked', () => {
  const { asked, member, items } = scene()
  const [ada, bob] = [member('ada'), member('bob')]
  items.add(ada, [1])
  items.add(bob, [1])
  items.keepOnly(new Set([bob]))
  items.onArrived(1)
  expect(asked).toEqual(['bob'])
})

test('[S2] a room remembers at most 1,000 entries, and has space again when members leave', () => {
  const { asked, member, items } = scene()
  const ids = Array.from({ length: 1_000 }, (_, id) => id)
  const [ada, bob] = [member('ada'), member('bob')]
  items.add(ada, ids)
  items.add(bob, [1])
  items.keepOnly(new Set([bob]))
  items.onArrived(1)
  expect(asked).toEqual([])
  items.add(bob, [1])
  items.onArrived(1)
  expect(asked).toEqual(['bob'])
})
