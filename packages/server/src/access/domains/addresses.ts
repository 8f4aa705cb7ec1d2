import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The client's address (spec 0.7): the socket peer, or with n trusted proxies the n-th entry from the right of
 * `X-Forwarded-For`, which the outermost proxy wrote. Entries further left came from outside and are not trusted.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops > 0 && forwardedFor !== undefined) {
    // Empty entries are counted: skipping one that a proxy wrote would select an untrusted entry.
    const address = parseEntry(forwardedFor.split(',').at(-trustedHops) ?? '')
    if (address !== null) return address
  }
  // With fewer entries than hops (the request bypassed a proxy) or an invalid entry, use the peer, which cannot be forged.
  // At worst the clients behind one proxy share a limit; none can evade it.
  return canonical(peer) ?? peer
}

/** The key under which a client is counted. An IPv6 customer has a whole /64, so that is one client. */
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
