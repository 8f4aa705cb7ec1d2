import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from './public-addresses.ts'

export type PrivateAddresses = 'refused' | 'allowed'

/** Whether the server may connect to an IP address. */
export type IsAllowedAddress = (address: string) => boolean

/** Addresses that are not public are refused, unless all are allowed or the address is in one of these CIDR ranges. */
export function createAddressRule(
  privateAddresses: PrivateAddresses,
  allowedRanges: readonly string[] = [],
): IsAllowedAddress {
  if (privateAddresses === 'allowed') return () => true
  const ranges = allowedRanges.map((range) => ipaddr.parseCIDR(range))
  return (address) => isPublicAddress(address) || (isIP(address) !== 0 && isInRange(address, ranges))
}

function isInRange(text: string, ranges: readonly ReturnType<typeof ipaddr.parseCIDR>[]): boolean {
  const address = ipaddr.parse(text)
  // An IPv6 address that contains an IPv4 address is in no range of IPv4 addresses: it may lead elsewhere.
  return ranges.some((range) => address.kind() === range[0].kind() && address.match(range))
}

/** Whether the text is a CIDR range such as `10.0.0.0/8` or `fd00::/8`. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits = '', ...others] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || others.length > 0) return false
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}
