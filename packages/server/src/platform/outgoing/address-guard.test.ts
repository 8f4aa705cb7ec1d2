import { EventEmitter } from 'node:events'
import type { ClientRequest, RequestOptions } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { createAddressRule } from './allowed-addresses.ts'
import { createOutgoingPost, type OutgoingPostDeps } from './outgoing-post.ts'
import { isCallableUrl } from './outgoing-urls.ts'

/** No test of this file sends a packet: names and connections are injected, and `sent` records each connection. */
function scene(
  deps: Partial<OutgoingPostDeps> = {},
  answer: { status: number; location?: string } = { status: 200 },
) {
  const sent: { url: string; addresses: string[] }[] = []
  const send = (url: URL, { lookup }: RequestOptions) => {
    lookup?.(url.hostname, { all: true }, (_error, found) =>
      sent.push({ url: url.href, addresses: (found as { address: string }[]).map(({ address }) => address) }),
    )
    const request = new EventEmitter()
    const response = Object.assign(Readable.from([]), {
      statusCode: answer.status,
      headers: { location: answer.location },
    })
    return Object.assign(request, {
      end: () => request.emit('response', response),
    }) as unknown as ClientRequest
  }
  const resolve = () => Promise.reject(new Error('This test resolves no names.'))
  const post = createOutgoingPost({
    clock: new SteppedClock(),
    privateAddresses: 'refused',
    resolve,
    send,
    ...deps,
  })
  const call = (url: string) =>
    post({
      url: new URL(url),
      headers: {},
      body: '{}',
      timeoutMs: 10_000,
      maxAnswerBytes: 100,
      signal: new AbortController().signal,
    })
  return { sent, call }
}

const isPublicOnly = createAddressRule('refused')

const privateHosts: [kind: string, ...hosts: string[]][] = [
  ['loopback', '127.0.0.1', '127.255.255.254', '127.1', '127.0.1', '[::1]', '[0:0:0:0:0:0:0:1]'],
  ['decimal', '2130706433', '2852039166', '167772161', '3232235521'],
  ['octal', '0177.0.0.1', '0177.1', '017700000001', '0251.0376.0251.0376', '012.0.0.1', '0300.0250.0.1'],
  ['hexadecimal', '0x7f.0.0.1', '0x7f000001', '0x7F.1', '0xa9fea9fe', '0xa9.0xfe.0xa9.0xfe', '0x0a000001'],
  ['mixed', '0x7f.0.0.01', '127.0x0.1', '0xa9.254.0251.254', '0xc0.168.1'],
  ['unspecified', '0.0.0.0', '0', '0x0', '0.1.2.3', '[::]', '[0::0]'],
  [
    'private',
    '10.0.0.1',
    '10.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.257',
  ],
  ['link-local', '169.254.0.1', '169.254.169.254', '[fe80::1]', '[febf::1]', '[fe80::5efe:10.0.0.1]'],
  ['of metadata services', '100.100.100.200', '192.0.0.192', '168.63.129.16', '[fd00:ec2::254]'],
  ['carrier-grade NAT', '100.64.0.1', '100.127.255.255'],
  ['unique local', '[fc00::1]', '[fd12:3456:789a::1]', '[fdff::1]', '[fec0::1]'],
  ['multicast or broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', '[ff02::1]', '[ff0e::1]'],
  [
    'reserved',
    '240.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '[2001:db8::1]',
    '[100::1]',
  ],
  ['IPv4 in IPv6', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]'],
  ['IPv4 in IPv6', '[::ffff:0:10.0.0.1]', '[::127.0.0.1]', '[::7f00:1]', '[0:0:0:0:0:ffff:10.0.0.1]'],
  ['NAT64', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a00:1]'],
  [
    '6to4 or Teredo',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2002:c0a8:1::]',
    '[2001::1]',
    '[2001:0:7f00:1::]',
  ],
  ['with a dot at the end', '127.0.0.1.', '0x7f.1.', '169.254.169.254.', '10.1.'],
  [
    'in other digits',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '１６９.２５４.１６９.２５４',
    '0ｘ7f.1',
  ],
  ['percent-encoded', '127%2e0%2e0%2e1', '%31%32%37.0.0.1', '%30x7f.1'],
]
const privateUrls = privateHosts.flatMap(([kind, ...hosts]) =>
  hosts.map((host, index): [kind: string, url: string] => [
    kind,
    index % 2 === 0 ? `http://${host}/` : `https://${host}:8443/latest/meta-data`,
  ]),
)

test('[N1] the lists of refused URLs have more than 120 cases', () => {
  expect(privateUrls.length + privateNames.length + refusedUrls.length).toBeGreaterThan(120)
})

describe('an IP address in the URL', () => {
  test.each(privateUrls)(
    '[N1] [N1.3] an address that is %s is refused when stored and when called: %s',
    async (_, url) => {
      expect(isCallableUrl(url, isPublicOnly)).toBe(false)
      const { call, sent } = scene()
      await expect(call(url)).rejects.toThrow('The host has no public address')
      expect(sent).toEqual([])
    },
  )

  test.each([
    'http://8.8.8.8/',
    'https://0x08080808/',
    'https://[2606:4700::1111]:8443/',
    'http://172.32.0.1/',
  ])('[N1] [N1.3] a public address is accepted and called: %s', async (url) => {
    expect(isCallableUrl(url, isPublicOnly)).toBe(true)
    const { call, sent } = scene()
    expect(await call(url)).toMatchObject({ status: 200 })
    expect(sent).toHaveLength(1)
  })
})

const privateNames: [name: string, ...addresses: string[]][] = [
  ['localhost', '127.0.0.1', '::1'],
  ['localhost.', '127.0.0.1'],
  ['LOCALHOST.localdomain', '127.0.0.1'],
  ['metadata.google.internal', '169.254.169.254'],
  ['metadata', '169.254.169.254'],
  ['instance-data.ec2.internal', '169.254.169.254'],
  ['metadata.tencentyun.com', '169.254.0.23'],
  ['127.0.0.1.nip.io', '127.0.0.1'],
  ['169-254-169-254.nip.io', '169.254.169.254'],
  ['7f000001.nip.io', '127.0.0.1'],
  ['10.0.0.1.sslip.io', '10.0.0.1'],
  ['localtest.me', '127.0.0.1', '::1'],
  ['xn--bcher-kva.example', '192.168.1.1'],
  ['bücher.example', '192.168.1.1'],
  ['ｌｏｃａｌｈｏｓｔ', '127.0.0.1'],
  ['mapped.example', '::ffff:10.0.0.1'],
  ['nat64.example', '64:ff9b::a9fe:a9fe'],
  ['6to4.example', '2002:7f00:1::'],
  ['zone.example', 'fe80::1%eth0'],
  ['kubernetes.default.svc', '10.96.0.1'],
  ['broken.example', 'not an address', ''],
]

describe('a name in the URL', () => {
  test.each(privateNames)('[N1] %s is refused when it resolves to %s', async (name, ...addresses) => {
    const { call, sent } = scene({ resolve: async () => addresses })
    await expect(call(`https://${name}/`)).rejects.toThrow('The host has no public address')
    expect(sent).toEqual([])
  })

  test('[N1.1] only the public addresses of a name with mixed records are connected to', async () => {
    const resolve = async () => ['10.0.0.1', '8.8.8.8', '::1', '169.254.169.254', '2606:4700::1111']
    const { call, sent } = scene({ resolve })
    await call('https://mixed.example/')
    expect(sent).toEqual([{ url: 'https://mixed.example/', addresses: ['8.8.8.8', '2606:4700::1111'] }])
  })

  test('[N1.1] a name that resolves to a public address first and to a private one then is connected to the first only', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1']]
    const { call, sent } = scene({ resolve: async () => answers.shift() ?? [] })
    await call('https://rebind.example/')
    expect(sent.map(({ addresses }) => addresses)).toEqual([['8.8.8.8']])
    await expect(call('https://rebind.example/')).rejects.toThrow('The host has no public address')
    await expect(call('https://rebind.example/')).rejects.toThrow('The host has no public address')
    expect(sent).toHaveLength(1)
  })
})

const refusedUrls = [
  'http://user@example.com/',
  'http://user:password@example.com/',
  'https://:password@example.com/',
  'http://example.com@127.0.0.1/',
  'http://127.0.0.1%20@example.com/',
  ...[0, 1, 21, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 2049, 6000, 6379, 6667, 11211].map(
    (port) => `http://example.com:${port}/`,
  ),
  'https://example.com:22/',
  'http://8.8.8.8:25/',
  'file:///etc/passwd',
  'gopher://example.com:70/_x',
  'dict://example.com:11111/',
  'ftp://example.com/',
  'ws://example.com/',
  'javascript:alert(1)',
  'data:text/plain,x',
  'blob:https://example.com/x',
  'unix:/var/run/docker.sock',
]

describe('a URL that the server does not call', () => {
  test.each(refusedUrls)('[N1.3] is refused when stored and when called: %s', async (url) => {
    expect(isCallableUrl(url, () => true)).toBe(false)
    const { call, sent } = scene({ privateAddresses: 'allowed', resolve: async () => ['8.8.8.8'] })
    await expect(call(url)).rejects.toThrow('The server does not call URLs of this kind.')
    expect(sent).toEqual([])
  })

  test.each([
    '',
    'example.com',
    '//example.com',
    'http://',
    'http://[::1',
    'http://1.2.3.4.5/',
    'http://a b/',
  ])('[N1.3] is refused when stored if it is no URL: %j', (url) =>
    expect(isCallableUrl(url, () => true)).toBe(false),
  )
})

describe('a redirect', () => {
  test.each([...privateUrls.map(([, url]) => url), ...refusedUrls])(
    '[N1.1] is an answer and not followed: %s',
    async (location) => {
      const { call, sent } = scene({ resolve: async () => ['8.8.8.8'] }, { status: 307, location })
      expect(await call('https://example.com/')).toMatchObject({ status: 307 })
      expect(sent).toHaveLength(1)
    },
  )
})

describe('allowed ranges', () => {
  const ranges = ['10.20.0.0/16', '192.168.1.7/32', 'fd00::/8']

  test.each<[address: string, isAllowed: boolean]>([
    ['10.20.0.1', true],
    ['10.20.255.255', true],
    ['192.168.1.7', true],
    ['fd12::1', true],
    ['8.8.8.8', true],
    ['10.21.0.1', false],
    ['10.19.255.255', false],
    ['192.168.1.8', false],
    ['fc00::1', false],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['::ffff:10.20.0.1', false],
    ['64:ff9b::a14:1', false],
    ['no address', false],
  ])('[N1.4] with ranges that are allowed, the address %s is allowed: %s', (address, isAllowed) => {
    expect(createAddressRule('refused', ranges)(address)).toBe(isAllowed)
  })

  test('[N1.4] a range of all IPv6 addresses allows no IPv4 address, and the other way round', () => {
    expect(createAddressRule('refused', ['::/0'])('10.0.0.1')).toBe(false)
    expect(createAddressRule('refused', ['::/0'])('::ffff:10.0.0.1')).toBe(true)
    expect(createAddressRule('refused', ['0.0.0.0/0'])('::1')).toBe(false)
  })

  test('[N1.4] a call connects only to the addresses in the ranges, besides public ones', async () => {
    const resolve = async () => ['10.20.0.5', '10.21.0.5']
    const { call, sent } = scene({ allowedRanges: ranges, resolve })
    await call('http://hooks.internal/')
    expect(sent.map(({ addresses }) => addresses)).toEqual([['10.20.0.5']])
    await expect(call('http://127.0.0.1/')).rejects.toThrow('The host has no public address')
  })
})
