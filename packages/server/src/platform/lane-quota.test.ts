import { expect, test } from 'vitest'
import { LaneQuota } from './lane-quota.ts'

test('[V5] a lane quota limits the jobs and bytes of each lane, but accepts its only job at any size', () => {
  const quota = new LaneQuota({ maxJobs: 2, maxBytes: 100 })
  expect(quota.add('a', 1_000)).toBe(true)
  expect(quota.add('a', 0)).toBe(false)
  expect(quota.add('b', 40)).toBe(true)
  expect(quota.add('b', 61)).toBe(false)
  expect(quota.add('b', 60)).toBe(true)
  expect(quota.add('b', 0)).toBe(false)
  quota.remove('b', 40)
  expect(quota.add('b', 40)).toBe(true)
  quota.remove('a', 1_000)
  expect(quota.add('a', 1_000)).toBe(true)
})
