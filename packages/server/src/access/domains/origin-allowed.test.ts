import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeDomain, originAllowed } from './domains.ts'

const label63 = 'a'.repeat(63)

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
  it.each(allowedOrigins)('[2.0.1] originAllowed accepts %j', (origin) => {
    expect(originAllowed(origin, allowedDomains)).toBe(true)
  })

  it.each(refusedOrigins)('[2.0.1] originAllowed refuses %j', (origin) => {
    expect(originAllowed(origin, allowedDomains)).toBe(false)
  })

  it('[2.0.1] the tables of allowed and refused origins contain more than 200 origins, each once', () => {
    const origins = [...allowedOrigins, ...refusedOrigins]
    expect(new Set(origins).size).toBe(origins.length)
    expect(origins.length).toBeGreaterThan(200)
  })

  it.each(['https://anything.test', 'null', '', 'file://', 'nonsense'])(
    '[2.0.1] originAllowed accepts %j when no domain is listed',
    (origin) => {
      expect(originAllowed(origin, [])).toBe(true)
    },
  )

  it('[2.0.1] originAllowed accepts the host of every stored entry, with or without www.', () => {
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

  it('[2.0.1] a wildcard domain allows the hosts at any depth below it, and no other host', () => {
    const labels = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 5 })
    fc.assert(
      fc.property(labels, fc.constantFrom('x.com', 'ax.com', 'x.com.evil', 'y.com', 'com'), (below, base) => {
        const host = [...below, base].join('.')
        const expected = /^(?:[a-z]+\.)+x\.com$/.test(host)
        expect(originAllowed(`https://${host}`, ['*.x.com'])).toBe(expected)
      }),
    )
  })

  it('[2.0.1] originAllowed never throws', () => {
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

// Short enough to remain a host name with `www.` before it.
const domainWithRoom = fc.domain().filter((domain) => domain.length < 240)

function words(table: string): string[] {
  return table.trim().split(/\s+/)
}
