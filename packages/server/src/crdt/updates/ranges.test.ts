import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, type Ranges, RangeSet, unite } from './ranges.ts'
import { SortedPairs } from './sorted-pairs.ts'

/** The starts and ends of ranges up to the limit, in order. The ranges do not touch each other. */
const ranges = (maxRanges: number, limit: number, size?: 'max') =>
  fc.uniqueArray(fc.nat(limit), { maxLength: maxRanges * 2, ...(size && { size }) }).map((list) => {
    const sorted = list.sort((a, b) => a - b)
    return sorted.length % 2 ? sorted.slice(1) : sorted
  })

const numbersIn = (list: Ranges) =>
  Array.from({ length: 121 }, (_, n) => n).filter((n) => covers(list, n, n + 1))

/** The start and the end of each range. */
function rangesOf(set: RangeSet): Ranges {
  const numbers = new Float64Array(set.pairs.length)
  set.pairs.copyTo(numbers, 0)
  return [...numbers]
}

const isAscending = (numbers: readonly number[]) =>
  numbers.every((n, i) => i === 0 || n > (numbers[i - 1] as number))

test('[V2] the union of two lists of ranges has the numbers of both, ordered and disjoint', () => {
  fc.assert(
    fc.property(ranges(20, 120), fc.oneof(ranges(3, 120), ranges(20, 120)), (a, b) => {
      const expected = [...new Set([...numbersIn(a), ...numbersIn(b)])].sort((x, y) => x - y)
      const united = unite([...a], [...b])
      expect(numbersIn(united)).toEqual(expected)
      expect(isAscending(united)).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

test('[V2] a range set agrees with one flag per number, in any order of additions', () => {
  const limit = 6_000
  const batches = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: ranges(2, limit) },
      { weight: 2, arbitrary: ranges(400, limit) },
      // A range that covers many others.
      { weight: 1, arbitrary: ranges(1, limit) },
      // Enough ranges for many chunks.
      fc.nat(2).map((at) => Array.from({ length: limit / 2 }, (_, i) => 2 * i + at)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  fc.assert(
    fc.property(batches, fc.nat(12), (list, moveAfter) => {
      const flags = new Uint8Array(limit + 4)
      let set = new RangeSet()
      for (const [index, batch] of list.entries()) {
        set.addAll(batch)
        for (let i = 0; i < batch.length; i += 2) flags.fill(1, batch[i], batch[i + 1])
        // In a set that was sent between threads the chunks are views.
        if (index === moveAfter) set = new RangeSet(SortedPairs.over(Float64Array.from(rangesOf(set))))
        const kept = rangesOf(set)
        expect(isAscending(kept)).toBe(true)
        const keptFlags = new Uint8Array(limit + 4)
        for (let i = 0; i < kept.length; i += 2) keptFlags.fill(1, kept[i], kept[i + 1])
        expect(Buffer.compare(keptFlags, flags)).toBe(0)
      }
      for (let start = 0; start < limit; start += 7) {
        const end = start + 1 + (start % 5)
        expect(set.covers(start, end)).toBe(flags.subarray(start, end).every((flag) => flag === 1))
      }
    }),
    { numRuns: 100 },
  )
})

test('[V2] a range set with a chunk limit keeps its ranges, adds only given ones, and stays in order', () => {
  const limit = 6_000
  const flagsOf = (list: Ranges) => {
    const flags = new Uint8Array(limit + 4)
    for (let i = 0; i < list.length; i += 2) flags.fill(1, list[i], list[i + 1])
    return flags
  }
  const many = Array.from({ length: limit / 4 }, (_, i) => [4 * i, 4 * i + 1]).flat()
  fc.assert(
    fc.property(ranges(60, limit, 'max'), fc.integer({ min: 1, max: 6 }), (added, maxChunks) => {
      const set = new RangeSet(SortedPairs.over(Float64Array.from(many)))
      set.addAll(added, maxChunks)
      const kept = rangesOf(set)
      expect(isAscending(kept)).toBe(true)
      const [before, wanted, after] = [flagsOf(many), flagsOf(added), flagsOf(kept)]
      expect(before.every((flag, n) => !flag || after[n])).toBe(true)
      expect(after.every((flag, n) => !flag || before[n] || wanted[n])).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('[V2] a range set with a chunk limit has only added ranges, and all of them after enough additions', () => {
  const apart = (count: number, offset: number) =>
    Array.from({ length: count }, (_, i) => [i * 1_000 + offset, i * 1_000 + offset + 1]).flat()
  const set = new RangeSet()
  set.addAll(apart(20_000, 0))
  let missing = apart(20_000, 500)
  for (let rounds = 0; missing.length > 0; rounds++) {
    set.addAll(missing, 50)
    const stillMissing = missing.filter((n) => !set.covers(n - (n % 500), n - (n % 500) + 1))
    expect(stillMissing.length).toBeLessThan(missing.length)
    expect(set.pairs.length).toBe(80_000 - stillMissing.length)
    if (rounds === 0) expect(stillMissing.length).toBeGreaterThan(0)
    missing = stillMissing
  }
  expect(set.covers(250, 251)).toBe(false)
})
