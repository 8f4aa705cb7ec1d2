import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonMembers, membersIn, membersOf } from './json-members.ts'

const objects = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }))

describe('[16.1] JSON by its members', () => {
  test('[16.1] laying objects over each other gives what spreading them gives, and its size', () => {
    fc.assert(
      fc.property(fc.array(objects, { minLength: 1, maxLength: 5 }), (layers) => {
        const [first, ...others] = layers
        const members = new JsonMembers(membersIn(JSON.stringify(first)))
        for (const layer of others) expect(members.lay(membersOf(layer), Infinity)).toBe(true)
        const spread: unknown = JSON.parse(JSON.stringify(Object.assign(Object.create(null), ...layers)))
        expect(JSON.parse(String(members))).toEqual(spread)
        expect(members.bytes).toBe(Buffer.byteLength(String(members)))
      }),
    )
  })

  test('[16.1] members of written JSON are those of the object', () => {
    fc.assert(
      fc.property(objects, (object) => {
        expect([...membersIn(JSON.stringify(object))]).toEqual(membersOf(object))
      }),
    )
  })

  test('[16.1] what would be too large changes nothing, and the bound is exact', () => {
    fc.assert(
      fc.property(objects, objects, (below, above) => {
        const after = new JsonMembers(membersOf(below))
        after.lay(membersOf(above), Infinity)
        const members = new JsonMembers(membersOf(below))
        const before = String(members)
        const fits = after.bytes
        expect(members.lay(membersOf(above), fits - 1)).toBe(false)
        expect([String(members), members.bytes]).toEqual([before, Buffer.byteLength(before)])
        expect(members.lay(membersOf(above), fits)).toBe(true)
        expect(String(members)).toBe(String(after))
      }),
    )
  })

  test('[16.1] a key that names a prototype is a key like any other', () => {
    const members = new JsonMembers(membersIn('{"__proto__":1,"a":1}'))
    expect(members.lay([...membersIn('{"__proto__":{"b":2}}')], 100)).toBe(true)
    expect(String(members)).toBe('{"__proto__":{"b":2},"a":1}')
  })
})
