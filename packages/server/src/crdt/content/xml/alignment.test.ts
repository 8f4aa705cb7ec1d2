import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectToEnd } from '../../../../test/support/measures/endless-work.ts'
import { matchEqual, pairSimilar } from './alignment.ts'

const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'))

describe('[17.3] alignment of two lists', () => {
  it('[17.3] partners are equal and in the same order, and lists without an item twice share all that they can', () => {
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        const partners = matchEqual(before, after)
        const matched = partners.filter((index) => index >= 0)
        expect(matched).toEqual([...new Set(matched)].sort((a, b) => a - b))
        for (const [j, i] of partners.entries()) if (i >= 0) expect(before[i]).toBe(after[j])
        const isUnique = (list: string[]) => new Set(list).size === list.length
        if (isUnique(before) && isUnique(after)) expect(matched).toHaveLength(longest(before, after))
      }),
      { numRuns: 500 },
    )
  })

  /** The length of the longest common subsequence. */
  const longest = ([a, ...as]: string[], bs: string[]): number => {
    if (a === undefined) return 0
    const without = longest(as, bs)
    const at = bs.indexOf(a)
    return at < 0 ? without : Math.max(without, 1 + longest(as, bs.slice(at + 1)))
  }

  it.each([
    ['equal ends', 'abXcd', 'abYcd', [0, 1, -1, 3, 4]],
    ['an inserted item', 'abc', 'abxc', [0, 1, -1, 2]],
    ['two changes', 'aXbYc', 'aPbQc', [0, -1, 2, -1, 4]],
    ['a moved item', 'abcd', 'bcda', [1, 2, 3, -1]],
    ['items that occur twice', 'aaxbb', 'aybbb', [0, -1, -1, 3, 4]],
  ])('[17.3] lists with %s share the others', (_, before, after, partners) => {
    expect(matchEqual(before, after)).toEqual(partners)
  })

  it('[17.3] similar items are paired in order, and the pairs together are the most similar ones', () => {
    const score = (a: string, b: string) => (a[0] === b[0] ? 0.1 + (a === b ? 1 : 0) : 0)
    expect(pairSimilar(['a1', 'b1', 'a2'], ['a2', 'a3'], score)).toEqual(['a2', null])
    expect(pairSimilar(['a1'], ['a2', 'a1', 'b1'], score)).toEqual([null, 'a1', null])
    expect(pairSimilar(['a1', 'b1'], ['b2', 'a2'], score)).toHaveLength(2)
  })

  it('[17.3] long lists are aligned in a number of steps that grows with their length', () => {
    const list = (make: (index: number) => number) =>
      Array.from({ length: 200_000 }, (_, index) => make(index))
    expectToEnd(() => {
      matchEqual(
        list((i) => i),
        list((i) => 200_000 - i),
      )
      matchEqual(
        list((i) => i % 2),
        list((i) => (i + 1) % 3),
      )
      pairSimilar(
        list((i) => i),
        list((i) => -i),
        () => 1,
      )
    })
  })
})
