import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The only IPv6 network with public addresses so far. Everything else, such as `::127.0.0.1`, is special or unassigned. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** In a public network, but every virtual machine on Azure reaches its host at it. */
const azureHost = '168.63.129.16'

/**
 * Whether an IP address is one of the public internet. Private, loopback, link-local, multicast and reserved addresses are
 * not, nor are addresses that contain an IPv4 address (mapped, NAT64, 6to4, Teredo), because they may lead to a private one.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js alone would also accept `0x08.8.8.8` and `8.8.8`.
  const version = isIP(address)
  if (version === 0 || address === azureHost) return false
  if (version === 6 && !globalUnicast.check(address, 'ipv6')) return false
  return ipaddr.parse(address).range() === 'unicast'
}
