import { expect, test } from 'vitest'
import { randomNumbers } from '../../../test/support/updates/scenes.ts'
import { BodyScanner } from './body-scanner.ts'

function scan(text: string, { step, field }: { step?: number; field?: string } = {}) {
  const bytes = Buffer.from(text)
  const scanner = new BodyScanner(bytes, field)
  while (!scanner.scan(step));
  const { depth, keys, values } = scanner
  return { depth, keys, values, found: scanner.found.map(({ from, to }) => bytes.toString('utf8', from, to)) }
}

/** The same by the value. */
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

test('[0.7.2] depth, keys and values of any JSON are those of its value, in steps of any size', () => {
  const random = randomNumbers(20_261_115)
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
])('[0.7.3] the field is found where it belongs in %s', (text, expected) => {
  for (const step of [1, 2, 7, 1_000]) expect(scan(text, { step, field: 'data' }).found).toEqual(expected)
})

test('[0.7.3] what is found counts neither as keys nor as values, but as levels', () => {
  expect(scan('{"data":{"data":{"a":["b",{"c":"d"}]},"e":"f"}}', { field: 'data' })).toMatchObject({
    depth: 5,
    keys: 3,
    values: 3,
  })
})

test.each(['', '"', '"\\', '{"data":{"data":"', '{"data":{"data":[', '}}}', '{"data":{"data":"x"', ']["'])(
  '[0.7.2] text that ends too early or is no JSON is measured to its end: %s',
  (text) => {
    expect(() => scan(text, { step: 1, field: 'data' })).not.toThrow()
  },
)
