import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The client's address (spec 0.7): the socket peer, or with n trusted proxies the entry the outermost of
 * them wrote, n-th from the right of `X-Forwarded-For`. Whatever stands further left came from outside.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops > 0 && forwardedFor !== undefined) {
    // Empty entries keep their place: skipping one that a proxy wrote would reach into the outsider's part.
    const address = parseEntry(forwardedFor.split(',').at(-trustedHops) ?? '')
    if (address !== null) return address
  }
  // Fewer entries than hops (the request missed a proxy) or an unreadable one: the peer cannot be forged.
  // At worst the clients behind one proxy share a limit; none escapes it.
  return canonical(peer) ?? peer
}

/** The key a client is counted under: an IPv6 customer holds a whole /64, so that is one client. */
export function addressBucket(address: string): string {
  const known = canonical(address)
  if (known === null || isIPv4(known)) return known ?? address
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${known}/64`).toString()}/64`
}

/** An entry as proxies write it: `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]:80`. */
function parseEntry(entry: string): string | null {
  const text = entry.trim()
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? []
  if (bracketed !== undefined) return bracketed.includes(':') ? canonical(bracketed) : null
  return canonical(plain ?? text)
}

function canonical(address: string): string | null {
  const [bare = ''] = address.split('%', 1)
  // ipaddr.js alone would also read `0x7f.1`, `010.0.0.1` and `1` as addresses.
  if (isIP(bare) === 0) return null
  return ipaddr.process(bare).toString()
}
