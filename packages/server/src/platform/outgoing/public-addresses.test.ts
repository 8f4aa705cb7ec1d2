import { expect, test } from 'vitest'
import { isPublicAddress } from './public-addresses.ts'

const special: [kind: string, ...addresses: string[]][] = [
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ['unique local', 'fc00::1', 'fdff::1', 'fd00:ec2::254'],
  ['link-local, with the metadata of cloud machines', '169.254.169.254', 'fe80::1', 'febf::1'],
  ['site-local', 'fec0::1'],
  ['shared by a carrier, with metadata', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['of the host of a virtual machine', '168.63.129.16'],
  ['multicast and broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  ['reserved', '192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
  ['reserved', '240.0.0.1', '100::1', '2001:db8::1', '3fff::1', '5f00::1', '2001:2::1', '4000::1'],
  ['mapped IPv4', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:10.0.0.1'],
  ['compatible IPv4', '::127.0.0.1', '::8.8.8.8'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1'],
  ['6to4 and Teredo', '2002:7f00:1::', '2002:a00:1::', '2001::1'],
  ['no address', '', 'localhost', '8.8.8', '0x08.8.8.8', '010.8.8.8', '8.8.8.8/8', 'fe80::1%eth0'],
]

test.each(special)('[N1] an address that is %s is not public: %s', (_, ...addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([])
})

test('[N1] addresses of the public internet are public', () => {
  const addresses = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([])
})
