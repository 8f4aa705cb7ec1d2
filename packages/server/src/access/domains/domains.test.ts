import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import { hostName, normalizeDomain, originAllowed } from './domains.ts'

const label63 = 'a'.repeat(63)
const host253 = `${label63}.${label63}.${label63}.${'a'.repeat(61)}`
const longLength = 300_000

const normalized: [entry: string, stored: string][] = [
  ['example.com', 'example.com'],
  ['  example.com\t\n', 'example.com'],
  ['\u00a0example.com\ufeff', 'example.com'],
  ['EXAMPLE.Com', 'example.com'],
  ['http://example.com', 'example.com'],
  ['HTTPS://Example.com', 'example.com'],
  ['wss://example.com/socket', 'example.com'],
  ['chrome-extension://abcdef', 'abcdef'],
  ['//example.com/x', 'example.com'],
  ['https://user:secret@example.com', 'example.com'],
  ['user@example.com', 'example.com'],
  ['https://a@b@example.com', 'example.com'],
  ['example.com:8080', 'example.com'],
  ['https://example.com:443/', 'example.com'],
  ['example.com:65535', 'example.com'],
  ['example.com/', 'example.com'],
  ['example.com/a/b c?d#e', 'example.com'],
  ['example.com?query=//evil.com', 'example.com'],
  ['example.com#fragment@evil.com', 'example.com'],
  ['example.com/@evil.com', 'example.com'],
  ['example.com?@evil.com', 'example.com'],
  ['example.com.', 'example.com'],
  ['https://example.com.:443/', 'example.com'],
  ['www.example.com', 'example.com'],
  ['WWW.Example.com.', 'example.com'],
  ['https://u:p@www.example.com:8080/path?query#fragment', 'example.com'],
  ['www.www.example.com', 'example.com'],
  ['https://WWW.www.ＷＷＷ.example.com', 'example.com'],
  ['www.www', 'www'],
  ['www2.example.com', 'www2.example.com'],
  ['wwwexample.com', 'wwwexample.com'],
  ['a.www.example.com', 'a.www.example.com'],
  ['www', 'www'],
  ['www.localhost', 'localhost'],
  ['*.example.com', '*.example.com'],
  ['*.Example.COM.', '*.example.com'],
  ['https://*.example.com/x', '*.example.com'],
  ['https://user@*.example.com:8080', '*.example.com'],
  ['*.www.example.com', '*.www.example.com'],
  ['*.localhost', '*.localhost'],
  ['*.com', '*.com'],
  ['localhost', 'localhost'],
  ['LOCALHOST:3000', 'localhost'],
  ['http://localhost:3000/', 'localhost'],
  ['intranet', 'intranet'],
  ['a.b.c.d.e.example.co.uk', 'a.b.c.d.e.example.co.uk'],
  ['1.example.com', '1.example.com'],
  ['123.com', '123.com'],
  ['a--b.com', 'a--b.com'],
  ['example.c0m', 'example.c0m'],
  ['1.2.3.4', '1.2.3.4'],
  ['http://127.0.0.1:3000/x', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['http://[::1]:3000/', '::1'],
  ['http://u@[::1]', '::1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['[2001:db8:0000:0000::0001]:443', '2001:db8::1'],
  ['::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['bu\u0308cher.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ['*.bücher.example', '*.xn--bcher-kva.example'],
  ['https://www.bücher.example/', 'xn--bcher-kva.example'],
  ['faß.de', 'xn--fa-hia.de'],
  ['日本語.jp', 'xn--wgv71a119e.jp'],
  ['ｅｘａｍｐｌｅ．ｃｏｍ', 'example.com'],
  ['ｗｗｗ.example.com', 'example.com'],
  ['example。com', 'example.com'],
  ['example.com。', 'example.com'],
  ['exam\u00adple.com', 'example.com'],
  ['e\u0445ample.com', 'xn--eample-bsf.com'],
  [`${label63}.com`, `${label63}.com`],
  [host253, host253],
  [`www.${host253}`.slice(0, 253), host253.slice(0, 249)],
  [`example.com/${'x'.repeat(5000)}`, 'example.com'],
]

const invalid = [
  ...words(String.raw`
    . .. / ? # @ : :80 :// https:// http:///path user@ * *. ** *.* *.*.example.com **.example.com *example.com
    a*.example.com *..example.com example.* a.*.example.com www.*.example.com .*.example.com ＊.example.com
    localhost:* *.1.2.3.4 *.::1 *.[::1] https://*.127.0.0.1/ .example.com example..com example.com..
    example.com.。 example.com。. www..com -example.com example-.com a.-b.com a.b-.com - example.com-
    a_b.example.com _dmarc.example.com example.com\path https://example.com\@evil.com
    https://evil.com\.example.com ex%61mple.com example.com%00 example,com a.com,b.com exam'ple.com
    exam"ple.com <b>.com example.com| example.com; example!.com $.com (a).com a+b.com ~.com a=b.com
    example.com:http example.com:80:80 example.com:-1 example.com:65536 example.com:123456 example.com:
    https:/example.com https:example.com javascript:alert(1) data:text/html,x example.123 1.2.3.4.5 1.2.3 1.2
    127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 127.0.0.01 256.1.1.1 1.2.3.256 １２７.0.0.1 www.1.2.3.4
    example.0x1 1.2.3.4:99999 [1.2.3.4] [::1 ::1] [] [example.com] [::1]. [::1]x [fe80::1%eth0] fe80::1%eth0
    1::2::3 12345:: ::: [::1]:x [[::1]] 1:2:3:4:5:6:7:8:9 ::g xn-- xn--a.com xn--0.com a＠b.com a／b.com
  `),
  '',
  ' ',
  '\u00ad',
  'exa mple.com',
  'a b@example.com',
  'exa\tmple.com',
  'exam\nple.com',
  'example.com\u0000',
  'a\u200db.com',
  '\ud800.com',
  '\udfff',
  'a\u0085b.com',
  `${label63}a.com`,
  `${'ü'.repeat(60)}.com`,
  `${host253}a`,
  `*.${host253}`,
  'a.'.repeat(127) + 'aa',
]

describe('normalizeDomain', () => {
  it.each(normalized)('[2] normalizeDomain turns %j into %j', (entry, stored) => {
    expect(normalizeDomain(entry)).toBe(stored)
  })

  it.each(invalid)('[2] normalizeDomain refuses %j', (entry) => {
    expect(normalizeDomain(entry)).toBeNull()
  })

  it('[2] normalizeDomain never throws and returns only valid hosts', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, spelledDomain), (entry) => {
        const stored = normalizeDomain(entry)
        expect(stored ?? 'a').toMatch(/^(?:(?:\*\.)?[a-z0-9.-]{1,253}|[0-9a-f:]{2,39})$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('[2] normalizeDomain does not change its own result, so Delete Domains finds what Get Domains returns', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, spelledDomain, fc.webUrl(), fc.ipV4(), fc.ipV6()), (entry) => {
        const stored = normalizeDomain(entry)
        if (stored === null) return
        expect(normalizeDomain(stored)).toBe(stored)
        expect(stored).not.toMatch(/^www\./)
      }),
      { numRuns: 5000 },
    )
  })

  it('[2] normalizeDomain maps every spelling of a host to the same host', () => {
    fc.assert(
      fc.property(domainWithRoom, decoration, (domain, decorate) => {
        expect(normalizeDomain(decorate(domain))).toBe(normalizeDomain(domain))
      }),
    )
  })

  it('[2] hostName does not change its own result', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = hostName(text)
        if (name !== null) expect(hostName(name)).toBe(name)
      }),
      { numRuns: 3000 },
    )
  })

  it.each(longStrings())(
    '[2] normalizeDomain and originAllowed take a number of steps that grows with the length, input %#',
    (text) => {
      expectToEnd(() => {
        normalizeDomain(text)
        normalizeDomain(`https://${text}`)
        normalizeDomain(`*.${text}`)
        originAllowed(`https://${text}`, ['example.com', '*.example.com'])
        originAllowed(text, ['example.com'])
      })
    },
  )
})

const anyText = fc.string({ unit: 'binary', maxLength: 80 })

// Short enough to remain a host name with `www.` before it.
const domainWithRoom = fc.domain().filter((domain) => domain.length < 240)

const decoration = fc
  .record({
    scheme: fc.constantFrom('', 'http://', 'HTTPS://', 'wss://', '//'),
    user: fc.constantFrom('', 'u@', 'u:p@'),
    dot: fc.constantFrom('', '.'),
    port: fc.constantFrom('', ':80', ':65535'),
    tail: fc.constantFrom('', '/', '/a/b', '?q=@x', '#f', '/*.x.com'),
    upper: fc.boolean(),
  })
  .map(({ scheme, user, dot, port, tail, upper }) => (host: string) => {
    const spelled = `${scheme}${user}${host}${dot}${port}${tail}`
    return ` ${upper ? spelled.toUpperCase() : spelled} `
  })

const spelledDomain = fc
  .tuple(
    fc.constantFrom('', '*.', 'www.', 'www.www.', '*.www.', 'www.*.', '.', 'xn--'),
    fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      anyText,
      fc.constantFrom('localhost', 'bücher.de'),
    ),
    decoration,
  )
  .map(([prefix, host, decorate]) => decorate(prefix + host))

function longStrings(): string[] {
  const units = [...words('a . - : [ ] @ / * *. www. a. 1. :1 a- ü 。'), ' ', '\t']
  const tails = ['', '!', ':', '@', ':x', ']', '.com']
  return units.flatMap((unit) => tails.map((tail) => unit.repeat(longLength / unit.length) + tail))
}

function words(table: string): string[] {
  return table.trim().split(/\s+/)
}
