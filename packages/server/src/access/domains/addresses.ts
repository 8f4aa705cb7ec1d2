import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The address of the client (spec 0.7): the peer of the socket, or with n trusted proxies the n-th entry from the right of
 * `X-Forwarded-For`. The outermost trusted proxy wrote that entry. The client may have invented the entries left of it.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops > 0 && forwardedFor !== undefined) {
    // Empty entries count too: skipping one that a proxy wrote would select an entry that the client wrote.
    const address = parseEntry(forwardedFor.split(',').at(-trustedHops) ?? '')
    if (address !== null) return address
  }
  // If the entry is invalid or missing (the request bypassed a proxy), the peer is used, which cannot be forged. At worst
  // the clients behind one proxy share a rate limit; a missing entry lets no client evade it.
  return canonical(peer) ?? peer
}

/**
 * The name under which rate limits count a client. A customer with IPv6 has a whole /64 network, so that counts as one
 * client.
 */
export function addressBucket(address: string): string {
  const known = canonical(address)
  if (known === null || isIPv4(known)) return known ?? address
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${known}/64`).toString()}/64`
}

/** Parses an entry as proxies write it: `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]:80`. */
function parseEntry(entry: string): string | null {
  const text = entry.trim()
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? []
  if (bracketed !== undefined) return bracketed.includes(':') ? canonical(bracketed) : null
  return canonical(plain ?? text)
}

function canonical(address: string): string | null {
  const [bare = ''] = address.split('%', 1)
  // ipaddr.js alone would also accept `0x7f.1`, `010.0.0.1` and `1`.
  if (isIP(bare) === 0) return null
  return ipaddr.process(bare).toString()
}
