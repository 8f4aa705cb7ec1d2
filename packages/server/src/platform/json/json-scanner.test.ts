import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRandom, testSeed } from '../../../test/support/random/random.ts'
import { InvalidJson } from './invalid-json.ts'
import { checkJson, JsonScanner } from './json-scanner.ts'

const unlimited = { depth: Infinity }

/** Scans the text without looking inside strings, as for HTTP bodies. */
function scan(text: string, { step, field }: { step?: number; field?: string } = {}) {
  const bytes = Buffer.from(text)
  const scanner = new JsonScanner(bytes, unlimited, { skipsStrings: true, field })
  while (!scanner.scan(step));
  const { depth, keys, values } = scanner
  return { depth, keys, values, found: scanner.found.map(({ from, to }) => bytes.toString('utf8', from, to)) }
}

function isAccepted(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** What the scanner counts, computed from the parsed value. */
function measure(value: unknown): { depth: number; keys: number; values: number } {
  if (typeof value === 'string') return { depth: 0, keys: 0, values: 1 }
  if (typeof value !== 'object' || value === null) return { depth: 0, keys: 0, values: 0 }
  const inner = Object.values(value).map(measure)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    keys: (Array.isArray(value) ? 0 : inner.length) + inner.reduce((sum, { keys }) => sum + keys, 0),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  }
}

describe('[R10.1] the JSON scanner', () => {
  test('[R10.1] the JSON scanner accepts numbers in lists exactly when JSON.parse does', () => {
    const characters = fc.array(fc.constantFrom(...'0019-+.eE, ]['.split('')), { maxLength: 12 })
    const numbers = fc.array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()))
    const lists = fc.oneof(
      characters.map((some) => `[${some.join('')}]`),
      fc.tuple(numbers, characters).map(([some, rest]) => `[${some.join()},${rest.join('')}]`),
      numbers.map((some) => JSON.stringify(some)),
    )
    fc.assert(
      fc.property(lists, (json) => {
        // The scanner ignores the bytes behind the text.
        const bytes = Buffer.from(`${json}1,-2e3]`)
        const scanned = isAccepted(() => checkJson(bytes, 0, Buffer.byteLength(json), { depth: 64 }))
        expect([json, scanned]).toEqual([json, isAccepted(() => JSON.parse(json))])
      }),
      { numRuns: 5000 },
    )
  })

  test('[R10.1] the JSON scanner accepts text without __proto__ exactly when JSON.parse does, in steps of any size', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"\\n"',
      '"\\x"',
      '"\t"',
      '"',
      '\\',
      '1',
      '-',
      'true',
      'nul',
      ' ',
    ]
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((some) => some.join('')),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([json, seed, piece]) => {
        const at = seed % (json.length + 1)
        return json.slice(0, at) + piece + json.slice(at + 1)
      }),
    )
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, step) => {
        fc.pre(!text.includes('__proto__'))
        const scanned = isAccepted(() => {
          const scanner = new JsonScanner(Buffer.from(text), unlimited)
          while (!scanner.scan(step));
        })
        expect([text, scanned]).toEqual([text, isAccepted(() => JSON.parse(text))])
      }),
      { numRuns: 5000 },
    )
  })

  test('[R10.1] the JSON scanner accepts nested brackets only if each is closed by its own kind, at any depth', () => {
    const random = createRandom()
    for (const depth of [31, 32, 33, 64, 65, 100]) {
      const kinds = Array.from({ length: depth }, () => random(2))
      const open = kinds.map((kind) => (kind === 0 ? '[' : '{"a":')).join('')
      const close = kinds.map((kind) => (kind === 0 ? ']' : '}')).toReversed()
      const isValid = (ends: readonly string[]) =>
        isAccepted(() => new JsonScanner(Buffer.from(`${open}1${ends.join('')}`), unlimited).scan())
      expect(isValid(close)).toBe(true)
      for (const [at, end] of close.entries())
        expect(isValid(close.with(at, end === ']' ? '}' : ']'))).toBe(false)
      expect(isValid(close.slice(1))).toBe(false)
      expect(isValid([...close, ']'])).toBe(false)
    }
  })

  test.each([
    '{"__proto__":1}',
    '{"a":[{"\\u005f_proto__" : 1}]}',
    '{"\\u005f\\u005fproto\\u005f\\u005f":1}',
  ])('[R10.1] the JSON scanner refuses a key that reaches the prototype: %s', (json) => {
    const bytes = Buffer.from(json)
    expect(() => checkJson(bytes, 0, bytes.length, unlimited)).toThrow('__proto__ is not allowed as a key.')
  })

  test.each([
    '{"__proto":1}',
    '{"__proto___":1}',
    '["__proto__"]',
    '{"a":"__proto__"}',
    '{"\\\\_proto__":1}',
  ])('[R10.1] the JSON scanner accepts __proto__ as a string, and keys that only resemble it: %s', (json) => {
    const bytes = Buffer.from(json)
    expect(() => checkJson(bytes, 0, bytes.length, unlimited)).not.toThrow()
  })

  test.each([
    ['depth', { depth: 2 }, '[[1]]', '[[[1]]]'],
    ['keys', { depth: 9, keys: 2 }, '{"a":{"b":1}}', '{"a":{"b":1},"c":1}'],
    ['values', { depth: 9, values: 3 }, '[["a"],1,2]', '[["a"],"b"]'],
  ])('[R10.1] the JSON scanner enforces the limit for %s', (limit, limits, within, beyond) => {
    expect(new JsonScanner(Buffer.from(within), limits).scan()).toBe(true)
    const scanner = new JsonScanner(Buffer.from(beyond), limits)
    expect(() => scanner.scan()).toThrow(expect.objectContaining({ code: 'too_large', limit }))
  })
})

describe('[0.7] the JSON scanner of HTTP bodies', () => {
  test('[0.7.2] the JSON scanner counts depth, keys and values of any JSON, in steps of any size', () => {
    const random = createRandom(testSeed + 1)
    const strings = [
      '',
      'a',
      '"',
      '\\',
      '\\"',
      '{[:,]}',
      'é😀',
      'x'.repeat(100),
      `${'y'.repeat(70)}"\\"`,
      '\\\\'.repeat(40),
    ]
    const make = (depth: number): unknown => {
      const kind = random(depth > 5 ? 3 : 6)
      if (kind === 0) return strings[random(strings.length)]
      if (kind === 1) return [1, -2.5e-7, true, null][random(4)]
      if (kind === 2) return kind
      const inner = Array.from({ length: random(5) }, () => make(depth + 1))
      if (kind === 3) return inner
      return Object.fromEntries(
        inner.map((value, index) => [`${strings[random(strings.length)]}${index}`, value]),
      )
    }
    for (let round = 0; round < 500; round++) {
      const value = make(0)
      const text = JSON.stringify(value, undefined, random(3))
      const { found: _, ...measured } = scan(text, { step: 1 + random(50) })
      expect(measured).toEqual(measure(value))
    }
  })

  test.each([
    ['{"data":{"data":"x","type":"text"}}', ['"x"']],
    ['{"data":{"a":[{"data":1}],"data" : {"data":{"b":[]}} ,"c":"data"}}', ['{"data":{"b":[]}}']],
    ['{"data":{"data":[1,[2]]}}', ['[1,[2]]']],
    ['{"data":{"data":"a\\"b"},"data":{"data":[]}}', ['"a\\"b"', '[]']],
    ['{"data":{"data":1,"x":"data"}}', []],
    ['{"data":{"data":null},"x":{"data":"no"}}', []],
    ['{"data":"data"}', []],
    ['{"data":[{"data":"no"}]}', []],
    ['{"other":{"data":"no"},"data":{"other":{"data":"no"}}}', []],
  ])('[0.7.3] the JSON scanner finds the field data only directly inside data: %s', (text, expected) => {
    for (const step of [1, 2, 7, 1_000]) expect(scan(text, { step, field: 'data' }).found).toEqual(expected)
  })

  test('[0.7.3] the JSON scanner counts the levels inside the field data, but not the keys and values', () => {
    expect(scan('{"data":{"data":{"a":["b",{"c":"d"}]},"e":"f"}}', { field: 'data' })).toMatchObject({
      depth: 5,
      keys: 3,
      values: 3,
    })
  })

  test.each(['', '"', '"\\', '{"data":{"data":"', '{"data":{"data":[', '}}}', '{"data":{"data":"x"', ']["'])(
    '[0.7.2] the JSON scanner refuses text that ends too early or is not JSON: %s',
    (text) => {
      for (const step of [1, 1_000]) expect(() => scan(text, { step, field: 'data' })).toThrow(InvalidJson)
    },
  )
})
