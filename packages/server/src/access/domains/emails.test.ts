import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import { normalizeEmail } from './emails.ts'

const local64 = 'l'.repeat(64)
const label63 = 'd'.repeat(63)
const domain189 = `${label63}.${label63}.${'d'.repeat(57)}.com`

const valid: [value: string, stored: string][] = [
  ['owner@example.com', 'owner@example.com'],
  ['  Owner@Example.COM \n', 'owner@example.com'],
  ['first.last+tag@sub.example.co.uk', 'first.last+tag@sub.example.co.uk'],
  ["o'brien!#$%&*/=?^_`{|}~-@example.com", "o'brien!#$%&*/=?^_`{|}~-@example.com"],
  ['1@1.example', '1@1.example'],
  ['-a-@example.com', '-a-@example.com'],
  ['a@b.c', 'a@b.c'],
  ['a@bücher.example', 'a@xn--bcher-kva.example'],
  ['a@XN--BCHER-KVA.example', 'a@xn--bcher-kva.example'],
  ['a@ｅｘａｍｐｌｅ。com', 'a@example.com'],
  ['a@\u212aelvin.com', 'a@kelvin.com'],
  [`${local64}@example.com`, `${local64}@example.com`],
  [`${local64}@${domain189}`, `${local64}@${domain189}`],
]

const invalid = [
  ...words(String.raw`
    @ owner owner@ @example.com owner.example.com a@b@example.com a@@example.com a@example.com@ @a@example.com
    <a@example.com> "a"@example.com "a@b"@example.com a(comment)@example.com a\b@example.com .a@example.com
    a.@example.com a..b@example.com .@example.com a,b@example.com a;b@example.com a:b@example.com
    mailto:a@example.com jörg@example.com ı@example.com 用户@example.com a@localhost a@example
    a@com a@.com a@example. a@example.com. a@example.com。 a@example..com a@-example.com a@example-.com
    a@ex_ample.com a@example.c*m a@*.example.com a@exam%70le.com a@example.com/x a@example.com:25
    a@example.com#x a@example.com?x a@example.com\x a@1.2.3.4 a@[1.2.3.4] a@[IPv6:::1] a@::1 a@127.1 a@0x7f.1
    a@example.123 a@xn--.com a@xn--a.com
  `),
  '',
  ' ',
  'a@example.com, b@example.com',
  'Owner <a@example.com>',
  '"a b"@example.com',
  'a b@example.com',
  'a @example.com',
  'a@ example.com',
  'a@exam ple.com',
  'a\tb@example.com',
  'a\n@example.com',
  'a\u0000@example.com',
  'a@example\u0000.com',
  'a\u007f@example.com',
  'a\u0085@example.com',
  'a\u200b@example.com',
  'a\r\nBcc: b@example.com',
  'a@example.com\r\nBcc: b',
  'a@example.com\nb',
  '\u212aevin@example.com',
  '\u0430@example.com',
  `a@${label63}d.com`,
  `${local64}l@example.com`,
  `${local64}@${domain189}m`,
]

describe('normalizeEmail', () => {
  it.each(valid)('[1.1.6] normalizeEmail turns %j into %j', (value, stored) => {
    expect(normalizeEmail(value)).toBe(stored)
  })

  it.each(invalid)('[1.1.6] normalizeEmail refuses %j', (value) => {
    expect(normalizeEmail(value)).toBeNull()
  })

  it('[1.1.6] normalizeEmail does not change its own result and never throws', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const spliced = fc.tuple(text, text).map(([left, right]) => `${left}@${right}.com`)
    fc.assert(
      fc.property(fc.oneof(text, spliced, fc.emailAddress()), (value) => {
        const email = normalizeEmail(value)
        if (email !== null) expect(normalizeEmail(email)).toBe(email)
      }),
      { numRuns: 3000 },
    )
  })

  it('[1.1.6] normalizeEmail accepts plain addresses in upper case and returns them in lower case', () => {
    const plainAddress = fc.emailAddress().filter((email) => email.length <= 254)
    fc.assert(
      fc.property(plainAddress, (email) => {
        expect(normalizeEmail(email.toUpperCase())).toBe(email.toLowerCase())
      }),
    )
  })

  it.each(['a', '.', 'a.', '@', 'a@', '-', ' ', '\t', '"', '+', 'ü', 'a@a.'])(
    '[1.1.6] normalizeEmail of addresses that repeat %j takes a number of steps that grows with the length',
    (unit) => {
      const text = unit.repeat(2_000_000)
      const values = [text, `${text}!`, `${text}@example.com`, `a@${text}`, `a@${text}.com`, `a@${text}!`]
      expectToEnd(() => values.forEach((value) => normalizeEmail(value)))
    },
  )
})

function words(table: string): string[] {
  return table.trim().split(/\s+/)
}
