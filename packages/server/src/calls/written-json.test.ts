import { describe, expect, test } from 'vitest'
import { WrittenJson, writeJson } from './written-json.ts'

const written = (text: string) => new WrittenJson(new TextEncoder().encode(text))

describe('[17.2] JSON that is written already', () => {
  test('[17.2] stands in an answer as it is, wherever it is and however often', () => {
    const value = { a: [written('{"x": "é"}'), 'between "quotes"', written('2')], b: { c: written('[]') } }
    const text = '{"a":[{"x": "é"},"between \\"quotes\\"",2],"b":{"c":[]}}'
    expect(writeJson(value)).toEqual(Buffer.from(text))
    expect(writeJson(written('null'))).toEqual(Buffer.from('null'))
    expect(writeJson({ a: 1 })).toBe('{"a":1}')
  })

  test('[17.2] is an ordinary value to everybody else, also after a failure', () => {
    const cycle: Record<string, unknown> = { a: written('1') }
    cycle.itself = cycle
    expect(() => writeJson(cycle)).toThrow(TypeError)
    expect(JSON.stringify({ a: written('{"x": 1}') })).toBe('{"a":{"x":1}}')
  })
})
