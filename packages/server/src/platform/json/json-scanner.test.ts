import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkJson } from './json-scanner.ts'

function isAccepted(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

test('[R10.1] numbers in lists are accepted as JSON.parse accepts them', () => {
  const characters = fc.array(fc.constantFrom(...'0019-+.eE, ]['.split('')), { maxLength: 12 })
  const numbers = fc.array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()))
  const lists = fc.oneof(
    characters.map((some) => `[${some.join('')}]`),
    fc.tuple(numbers, characters).map(([some, rest]) => `[${some.join()},${rest.join('')}]`),
    numbers.map((some) => JSON.stringify(some)),
  )
  fc.assert(
    fc.property(lists, (json) => {
      // What lies behind it does not count.
      const bytes = Buffer.from(`${json}1,-2e3]`)
      const scanned = isAccepted(() => checkJson(bytes, 0, Buffer.byteLength(json), { depth: 64 }))
      expect([json, scanned]).toEqual([json, isAccepted(() => JSON.parse(json))])
    }),
    { numRuns: 5000 },
  )
})
