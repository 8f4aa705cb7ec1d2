import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, unite, type Ranges } from './ranges.ts'

const ranges = (most: number) =>
  fc.uniqueArray(fc.nat(120), { maxLength: most * 2 }).map((list) => {
    const sorted = list.sort((a, b) => a - b)
    return sorted.length % 2 ? sorted.slice(1) : sorted
  })

const numbersIn = (list: Ranges) =>
  Array.from({ length: 121 }, (_, n) => n).filter((n) => covers(list, n, n + 1))

test('[V2] ranges are united, in order and apart', () => {
  fc.assert(
    fc.property(ranges(20), fc.oneof(ranges(3), ranges(20)), (a, b) => {
      const expected = [...new Set([...numbersIn(a), ...numbersIn(b)])].sort((x, y) => x - y)
      const united = unite([...a], [...b])
      expect(numbersIn(united)).toEqual(expected)
      expect(united.every((n, i) => i === 0 || n > (united[i - 1] as number))).toBe(true)
    }),
    { numRuns: 3_000, seed: 20_261_003 },
  )
})
