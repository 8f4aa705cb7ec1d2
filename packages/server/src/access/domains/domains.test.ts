import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../test/support/processor-time.ts'
import { hostName, normalizeDomain, originAllowed } from './domains.ts'

const label63 = 'a'.repeat(63)
const host253 = `${label63}.${label63}.${label63}.${'a'.repeat(61)}`
const pumped = 100_000

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
  it.each(normalized)('[2] stores %j as %j', (entry, stored) => {
    expect(normalizeDomain(entry)).toBe(stored)
  })

  it.each(invalid)('[2] refuses %j', (entry) => {
    expect(normalizeDomain(entry)).toBeNull()
  })

  it('[2] never throws, and its result is a host the rules accept', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, spelledDomain), (entry) => {
        const stored = normalizeDomain(entry)
        expect(stored ?? 'a').toMatch(/^(?:(?:\*\.)?[a-z0-9.-]{1,253}|[0-9a-f:]{2,39})$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('[2] gives its own result back: what Get Domains returns, Delete Domains finds', () => {
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

  it('[2] reads every spelling of a host as that host', () => {
    fc.assert(
      fc.property(domainWithRoom, decoration, (domain, decorate) => {
        expect(normalizeDomain(decorate(domain))).toBe(normalizeDomain(domain))
      }),
    )
  })

  it('[2] keeps host names canonical: hostName is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = hostName(text)
        if (name !== null) expect(hostName(name)).toBe(name)
      }),
      { numRuns: 3000 },
    )
  })

  it.each(pumpedStrings())('[2] answers in linear time: pump %#', (text) => {
    const milliseconds = processorMs(() => {
      normalizeDomain(text)
      normalizeDomain(`https://${text}`)
      normalizeDomain(`*.${text}`)
      originAllowed(`https://${text}`, ['example.com', '*.example.com'])
      originAllowed(text, ['example.com'])
    })
    expect(milliseconds).toBeLessThan(500)
  })
})

const allowedDomains = [
  'example.com',
  '*.wild.org',
  'both.net',
  '*.both.net',
  'app.deep.example.org',
  'localhost',
  '127.0.0.1',
  '::1',
  '2001:db8::1',
  'xn--bcher-kva.example',
  '*.xn--bcher-kva.shop',
  'intranet',
  '*.www.below.com',
]

const allowedOrigins = [
  ...words(String.raw`
    https://example.com http://example.com https://www.example.com http://www.example.com
    https://example.com:443 http://example.com:80 https://example.com:8443 http://example.com:3000
    https://www.example.com:8443 https://example.com:1 https://example.com:65535 https://EXAMPLE.com
    https://Example.Com HTTPS://example.com HTTP://EXAMPLE.COM:8080 https://WWW.example.com
    https://WwW.ExAmPlE.cOm https://example.com. https://www.example.com. https://example.com.:8443
    https://EXAMPLE.COM. https://ｅｘａｍｐｌｅ.com https://example。com https://example.com。 https://a.wild.org
    https://www.wild.org https://a.b.wild.org https://a.b.c.wild.org https://a.b.c.d.e.f.g.h.wild.org
    http://a.wild.org:3000 https://A.WILD.ORG https://a.wild.org. https://www.a.wild.org
    https://a.www.wild.org https://wild.org.wild.org https://1.wild.org https://example.com.wild.org
    https://xn--bcher-kva.wild.org https://bücher.wild.org https://a-b.wild.org https://evil-wild.org.wild.org
    https://0.wild.org:65535 https://both.net https://www.both.net https://a.both.net https://a.b.both.net
    http://both.net:81 https://app.deep.example.org https://www.app.deep.example.org
    http://app.deep.example.org:5173 http://localhost https://localhost http://localhost:3000
    http://LOCALHOST:5173 http://localhost. http://www.localhost http://127.0.0.1 http://127.0.0.1:3000
    https://127.0.0.1 http://127.0.0.1. http://[::1] http://[::1]:3000 https://[::1] http://[0:0:0:0:0:0:0:1]
    http://[::0001]:80 https://[2001:db8::1] https://[2001:DB8::1] https://[2001:db8:0:0:0:0:0:1]:8443
    https://bücher.example https://xn--bcher-kva.example https://BÜCHER.example https://www.bücher.example
    https://XN--BCHER-KVA.EXAMPLE https://xn--bcher-kva.example:444 https://a.bücher.shop
    https://a.b.xn--bcher-kva.shop https://ü.bücher.shop https://www.bücher.shop http://intranet
    http://intranet:8080 http://www.intranet http://INTRANET https://www.www.example.com https://www.www.www.intranet
    https://a.www.below.com https://www.www.below.com https://a.b.www.below.com
  `),
  'https://exam\u00adple.com',
  `https://${label63}.wild.org`,
  'https://bu\u0308cher.example',
]

const refusedOrigins = [
  ...words(String.raw`
    null NULL undefined * https:// http:// https: :// // / https . example.com www.example.com //example.com
    localhost localhost:3000 127.0.0.1 example.com:443 ftp://example.com ws://example.com wss://example.com
    file://example.com file:// data:example.com chrome-extension://example.com moz-extension://example.com
    javascript://example.com about:blank httpss://example.com xhttps://example.com http+unix://example.com
    blob:https://example.com/1 capacitor://localhost app://localhost tauri://localhost
    view-source:https://example.com https:/example.com https:example.com https:///example.com
    https:\\example.com https//example.com https://evil-example.com https://evilexample.com
    https://xexample.com https://notexample.com https://example.com.evil https://example.com.evil.com
    https://example.comevil.com https://example.co https://example.com-evil.com https://example.community
    https://example.com.example.net https://example.org https://example https://com https://xample.com
    https://example.com.com https://a.example.com https://a.b.example.com https://www.a.example.com
    https://a.www.example.com https://www.www.a.example.com https://www2.example.com https://wwww.example.com
    https://ww.example.com https://wwwexample.com https://www-example.com https://www.evil.com
    https://www.example.com.evil.com https://example.com@evil.com https://example.com:443@evil.com
    https://example.com%40evil.com https://user@example.com https://user:pass@example.com https://@example.com
    https://evil.com@example.com https://example.com%2eevil.com https://ex%61mple.com https://example.com%00
    https://example.com%00.evil.com https://example.com,https://evil.com https://example.com/
    https://example.com/path https://example.com?q https://example.com#f https://evil.com/example.com
    https://evil.com?example.com https://evil.com#example.com https://evil.com/.wild.org
    https://evil.com?.wild.org https://evil.com#.wild.org https://evil.com\.wild.org
    https://evil.com\@example.com https://example.com\@evil.com https://example.com\
    https://evil.com:.wild.org https://evil.com/@example.com https://evil.com:80@example.com
    https://evil.com;.wild.org https://evil.com,.wild.org https://example.com.. https://.example.com
    https://example..com https://-.example.com https://example.com.。 https://example.com:
    https://example.com:http https://example.com:99999 https://example.com:-1 https://example.com:80:80
    https://example.com:8080x https://example.com:1e3 https://wild.org http://wild.org:3000 https://WILD.org
    https://wild.org. https://evilwild.org https://evil-wild.org https://wild.org.evil.com
    https://a.wild.org.evil https://a.wild.orgx https://.wild.org https://*.wild.org https://*
    https://a.*.wild.org https://a..wild.org https://a_b.wild.org https://-a.wild.org
    https://a.wild.org@evil.com https://awild.org https://wild.org.org https://org https://a.wild.com
    https://%2e.wild.org https://a%2ewild.org https://evil.com%2f.wild.org https://evil.com%23.wild.org
    https://evil.com／.wild.org https://evil.com＃.wild.org https://evil.com？.wild.org
    https://evil.com＠example.com https://evil.com℀.wild.org https://evil.com：80.wild.org https://＊.wild.org
    https://evilboth.net https://both.net.evil https://both.netx https://bothxnet https://a-both.net
    https://deep.example.org https://x.app.deep.example.org https://app-deep.example.org
    https://app.deep.example.org.evil http://localhost.evil.com http://a.localhost http://localhosts
    http://evil-localhost http://local http://127.0.0.2 http://127.0.0.1.evil.com http://127.1
    http://2130706433 http://0x7f.0.0.1 http://0177.0.0.1 http://127.0.0.1.1 http://1127.0.0.1
    http://www.127.0.0.1 http://x.127.0.0.1 http://127.0.0.01 http://１２７.0.0.1 http://[::2] http://::1
    http://[::1 http://::1] http://[::1]evil.com http://[::1].evil.com http://[::1%25eth0]
    http://[::ffff:127.0.0.1] http://[127.0.0.1] http://[example.com] http://[::1]:x http://[::1]@evil.com
    http://[] https://[2001:db8::2] https://[2001:db8::1:1] https://2001:db8::1 https://[2001:db8::1]:99999
    https://bucher.example https://bücher.example.evil https://a.bücher.example https://xn--bcher-kvb.example
    https://bücher.shop https://xn--bcher-kva.shop https://xbücher.shop https://bucher.shop
    https://a.bucher.shop  https://examp1e.com https://exampłe.com https://xn--example-.com
    http://intranet.evil http://a.intranet http://intranets http://intranet.com
    https://www.below.com https://below.com
    https://a.below.com https://xwww.below.com
  `),
  '',
  ' ',
  'https://example.com\u0000.evil.com',
  'https://example.com\u0000',
  'https://exam\tple.com',
  'https://example.com\n',
  ' https://example.com',
  'https://example.com ',
  'https:// example.com',
  '\thttps://example.com',
  'https://example.com\r\n',
  'https://example.com https://evil.com',
  'https://evil.com https://example.com',
  'https://example.com: 80',
  `https://${label63}a.wild.org`,
  'https://e\u0445ample.com',
  'https://ex\u0430mple.com',
]

describe('originAllowed', () => {
  it.each(allowedOrigins)('[2.0.1] lets %j in', (origin) => {
    expect(originAllowed(origin, allowedDomains)).toBe(true)
  })

  it.each(refusedOrigins)('[2.0.1] keeps %j out', (origin) => {
    expect(originAllowed(origin, allowedDomains)).toBe(false)
  })

  it('[2.0.1] is decided for at least 200 different origins', () => {
    const origins = [...allowedOrigins, ...refusedOrigins]
    expect(new Set(origins).size).toBe(origins.length)
    expect(origins.length).toBeGreaterThan(200)
  })

  it.each(['https://anything.test', 'null', '', 'file://', 'nonsense'])(
    '[2.0.1] lets %j in when no domain is listed',
    (origin) => {
      expect(originAllowed(origin, [])).toBe(true)
    },
  )

  it('[2.0.1] lets in the host of every entry it stored, with or without www.', () => {
    fc.assert(
      fc.property(
        domainWithRoom,
        fc.constantFrom('', 'www.', 'www.www.'),
        fc.constantFrom('', ':8443'),
        (domain, www, port) => {
          const stored = normalizeDomain(`https://${www}${domain}/`)
          expect(originAllowed(`https://${domain}${port}`, [stored ?? ''])).toBe(true)
          expect(originAllowed(`https://${www}${domain}${port}`, [stored ?? ''])).toBe(true)
          expect(originAllowed(`https://www.${stored}${port}`, [stored ?? ''])).toBe(true)
        },
      ),
    )
  })

  it('[2.0.1] lets a wildcard reach any depth below its domain and nothing else', () => {
    const labels = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 5 })
    fc.assert(
      fc.property(labels, fc.constantFrom('x.com', 'ax.com', 'x.com.evil', 'y.com', 'com'), (below, base) => {
        const host = [...below, base].join('.')
        const expected = /^(?:[a-z]+\.)+x\.com$/.test(host)
        expect(originAllowed(`https://${host}`, ['*.x.com'])).toBe(expected)
      }),
    )
  })

  it('[2.0.1] never throws', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        originAllowed(text, ['example.com', '*.example.com'])
        originAllowed(`https://${text}`, ['example.com', '*.example.com'])
      }),
      { numRuns: 2000 },
    )
  })
})

const anyText = fc.string({ unit: 'binary', maxLength: 80 })

// Short enough to stay a host name with `www.` before it.
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

function pumpedStrings(): string[] {
  const units = [...words('a . - : [ ] @ / * *. www. a. 1. :1 a- ü 。'), ' ', '\t']
  const tails = ['', '!', ':', '@', ':x', ']', '.com']
  return units.flatMap((unit) => tails.map((tail) => unit.repeat(pumped / unit.length) + tail))
}

function words(table: string): string[] {
  return table.trim().split(/\s+/)
}
