import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonMembers, mergeJson } from './json-members.ts'

const objects = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }))

describe('[16.1.1] JsonMembers', () => {
  test('[16.1.1] merging objects gives the same result as spreading them, and its size in bytes', () => {
    fc.assert(
      fc.property(fc.array(objects, { minLength: 1, maxLength: 5 }), (layers) => {
        const [first, ...others] = layers
        const members = new JsonMembers(JSON.stringify(first))
        for (const layer of others) expect(members.merge(JSON.stringify(layer), Infinity)).toBe(true)
        const spread: unknown = JSON.parse(JSON.stringify(Object.assign(Object.create(null), ...layers)))
        expect(JSON.parse(String(members))).toEqual(spread)
        expect(members.bytes).toBe(Buffer.byteLength(String(members)))
        expect(members.isEmpty).toBe(String(members) === '{}')
      }),
    )
  })

  test('[16.1.2] a merge that exceeds the limit by one byte changes nothing, and one that reaches it succeeds', () => {
    fc.assert(
      fc.property(objects, objects, (below, above) => {
        const [lower, upper] = [JSON.stringify(below), JSON.stringify(above)]
        const merged = mergeJson(lower, upper, Infinity) as string
        const fits = Buffer.byteLength(merged)
        const members = new JsonMembers(lower)
        expect(members.merge(upper, fits - 1)).toBe(false)
        expect([String(members), members.bytes]).toEqual([lower, Buffer.byteLength(lower)])
        expect(mergeJson(lower, upper, fits - 1)).toBeUndefined()
        expect(members.merge(upper, fits)).toBe(true)
        expect(String(members)).toBe(merged)
      }),
    )
  })

  test('[16.1.1] a key called __proto__ is merged like any other key', () => {
    expect(mergeJson('{"__proto__":1,"a":1}', '{"__proto__":{"b":2}}', 100)).toBe(
      '{"__proto__":{"b":2},"a":1}',
    )
  })
})
