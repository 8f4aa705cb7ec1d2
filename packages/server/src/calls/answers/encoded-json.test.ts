import { describe, expect, test } from 'vitest'
import { EncodedJson, encodeJson } from './encoded-json.ts'

const encoded = (text: string) => new EncodedJson(new TextEncoder().encode(text))

describe('[17.2] encoded JSON', () => {
  test('[17.2] an answer contains encoded JSON unchanged, at any place and any number of times', () => {
    const value = { a: [encoded('{"x": "é"}'), 'between "quotes"', encoded('2')], b: { c: encoded('[]') } }
    const text = '{"a":[{"x": "é"},"between \\"quotes\\"",2],"b":{"c":[]}}'
    expect(encodeJson(value)).toEqual(Buffer.from(text))
    expect(encodeJson(encoded('null'))).toEqual(Buffer.from('null'))
    expect(encodeJson({ a: 1 })).toBe('{"a":1}')
  })

  test('[17.2] JSON.stringify treats encoded JSON as an ordinary value, also after encodeJson failed', () => {
    const cycle: Record<string, unknown> = { a: encoded('1') }
    cycle.itself = cycle
    expect(() => encodeJson(cycle)).toThrow(TypeError)
    expect(JSON.stringify({ a: encoded('{"x": 1}') })).toBe('{"a":{"x":1}}')
  })
})
