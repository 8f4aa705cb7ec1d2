import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectToEnd } from '../../../test/support/measures/endless-work.ts'
import { addressBucket, clientAddress } from './addresses.ts'

const peer = '10.0.0.9'

type Case = [title: string, forwardedFor: string | undefined, trustedHops: number, expected: string]

const cases: Case[] = [
  ['no proxy, no header', undefined, 0, peer],
  ['no proxy, a spoofed header', '1.1.1.1', 0, peer],
  ['a negative number of proxies', '1.1.1.1', -1, peer],
  ['NaN as the number of proxies', '1.1.1.1', Number.NaN, peer],
  ['one proxy, one entry', '203.0.113.7', 1, '203.0.113.7'],
  ['one proxy, one spoofed entry', '1.1.1.1, 203.0.113.7', 1, '203.0.113.7'],
  ['one proxy, many spoofed entries', '1.1.1.1, 2.2.2.2,3.3.3.3 , 203.0.113.7', 1, '203.0.113.7'],
  ['one proxy, garbage on the left', 'unknown, <script>, ,,, 203.0.113.7', 1, '203.0.113.7'],
  ['two proxies', '203.0.113.7, 10.0.0.1', 2, '203.0.113.7'],
  ['two proxies, one spoofed entry', '1.1.1.1, 203.0.113.7, 10.0.0.1', 2, '203.0.113.7'],
  ['three proxies', '1.1.1.1, 203.0.113.7, 10.0.0.1, 10.0.0.2', 3, '203.0.113.7'],
  ['spaces and tabs', '\t 203.0.113.7 \t', 1, '203.0.113.7'],
  ['no spaces', '1.1.1.1,203.0.113.7', 1, '203.0.113.7'],
  ['a header missing behind a proxy', undefined, 1, peer],
  ['an empty header', '', 1, peer],
  ['fewer entries than proxies', '203.0.113.7', 2, peer],
  ['far fewer entries than proxies', '203.0.113.7, 10.0.0.1', 9, peer],
  ['an infinite number of proxies', '203.0.113.7', Number.POSITIVE_INFINITY, peer],
  ['an unknown address', '1.1.1.1, unknown', 1, peer],
  ['a hidden address', '1.1.1.1, _hidden', 1, peer],
  ['a trailing comma', '1.1.1.1, ', 1, peer],
  ['an empty entry written by the outer proxy', '1.1.1.1, , 10.0.0.1', 2, peer],
  ['a host name', '1.1.1.1, example.com', 1, peer],
  ['a unix socket', '1.1.1.1, unix:', 1, peer],
  ['an octal spelling', '0177.0.0.1', 1, peer],
  ['a hexadecimal spelling', '0x7f.0.0.1', 1, peer],
  ['a decimal spelling', '2130706433', 1, peer],
  ['a short spelling', '127.1', 1, peer],
  ['an octet too large', '256.1.1.1', 1, peer],
  ['a range', '1.2.3.0/24', 1, peer],
  ['two addresses without a comma', '1.1.1.1 2.2.2.2', 1, peer],
  ['a line break', '1.1.1.1\n2.2.2.2', 1, peer],
  ['a port', '203.0.113.7:51234', 1, '203.0.113.7'],
  ['a port that is not a number', '203.0.113.7:http', 1, peer],
  ['an empty port', '203.0.113.7:', 1, peer],
  ['IPv6', '2001:db8::7', 1, '2001:db8::7'],
  ['IPv6 in upper case and full length', '2001:0DB8:0:0:0:0:0:7', 1, '2001:db8::7'],
  ['IPv6 in brackets', '[2001:db8::7]', 1, '2001:db8::7'],
  ['IPv6 in brackets with a port', '[2001:db8::7]:51234', 1, '2001:db8::7'],
  ['IPv6 with a zone', 'fe80::7%eth0', 1, 'fe80::7'],
  ['IPv6 in brackets with a zone', '[fe80::7%eth0]:1', 1, 'fe80::7'],
  ['IPv4 mapped into IPv6', '::ffff:203.0.113.7', 1, '203.0.113.7'],
  ['IPv4 mapped into IPv6, in hexadecimal', '::FFFF:cb00:7107', 1, '203.0.113.7'],
  ['IPv4 mapped into IPv6, with a port', '[::ffff:203.0.113.7]:80', 1, '203.0.113.7'],
  ['IPv4 in brackets', '[203.0.113.7]', 1, peer],
  ['an open bracket', '[2001:db8::7', 1, peer],
  ['a closing bracket', '2001:db8::7]', 1, peer],
  ['text after a bracket', '[2001:db8::7]x', 1, peer],
  ['empty brackets', '[]', 1, peer],
  ['quotes', '"203.0.113.7"', 1, peer],
]

describe('clientAddress', () => {
  it.each(cases)(
    '[0.7.11] clientAddress returns the address to trust for: %s',
    (_title, forwardedFor, trustedHops, expected) => {
      expect(clientAddress(peer, forwardedFor, trustedHops)).toBe(expected)
    },
  )

  it.each([
    ['::1', '::1'],
    ['::ffff:10.0.0.9', '10.0.0.9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['', ''],
  ])('[0.7.11] clientAddress returns the peer %j as %j', (socket, expected) => {
    expect(clientAddress(socket, undefined, 0)).toBe(expected)
    expect(clientAddress(socket, 'unknown', 1)).toBe(expected)
  })

  it('[0.7.11] clientAddress ignores entries that a client prepends', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('unknown', '', '1.2.3.4:5', '[::1]:80'))
    const written = fc.array(address, { minLength: 1, maxLength: 4 })
    const outside = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(address).map((list) => list.join(', ')),
    )
    fc.assert(
      fc.property(written, outside, fc.constantFrom(',', ', '), (hops, spoofed, comma) => {
        const honest = hops.join(comma)
        const expected = clientAddress(peer, honest, hops.length)
        expect(clientAddress(peer, spoofed + comma + honest, hops.length)).toBe(expected)
        expect(clientAddress(peer, comma + honest, hops.length)).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('[0.7.11] clientAddress never throws and always returns an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 3 }), (text, hops) => {
        expect(addressBucket(clientAddress(peer, text, hops))).toMatch(/^[0-9a-f.:]+(?:\/64)?$/)
        expect(typeof addressBucket(text)).toBe('string')
      }),
    )
  })

  it.each([',', '1.1.1.1,', '[', ']', ':', '1:', '%', '1', ' ', '[:', ':1'])(
    '[0.7.11] clientAddress and addressBucket of text that repeats %j take a number of steps that grows with the length',
    (unit) => {
      const text = unit.repeat(200_000)
      expectToEnd(() => {
        for (const tail of ['', 'x', ']', ':', ']:']) {
          clientAddress(peer, text + tail, 1)
          clientAddress(peer, text + tail, 50_000)
          addressBucket(text + tail)
        }
      })
    },
  )
})

describe('addressBucket', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::FFFF:203.0.113.7%eth0', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1', 'fe80::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['fe80::2%br_lan.5', 'fe80::/64'],
    ['', ''],
    ['unknown', 'unknown'],
  ])('[0.7.11] addressBucket counts %j as %j', (address, bucket) => {
    expect(addressBucket(address)).toBe(bucket)
  })

  it('[0.7.11] addressBucket counts an IPv6 /64 as one client and the next /64 as another', () => {
    const part = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16))
    const half = fc.array(part, { minLength: 4, maxLength: 4 }).map((parts) => parts.join(':'))
    fc.assert(
      fc.property(half, half, half, half, (network, other, host, otherHost) => {
        fc.pre(!/^0:0:0:0$/.test(network) && !/^0:0:0:0$/.test(other))
        expect(addressBucket(`${network}:${host}`)).toBe(addressBucket(`${network}:${otherHost}`))
        if (network !== other) {
          expect(addressBucket(`${network}:${host}`)).not.toBe(addressBucket(`${other}:${host}`))
        }
      }),
    )
  })
})
