import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

const longestHost = 253
const longestLabel = 63
// Unicode spellings may be longer than the name they stand for; this only bounds the conversion's work.
const longestSpelling = 1024

/** The canonical ASCII form of a host name, or null when it is not one. An IP literal is not a name. */
export function hostName(text: string): string | null {
  // domainToASCII parses a whole authority (`a@b`, `a/b`, `%61`), so it is only given what a name may hold.
  if (text.length > longestSpelling || !/^[a-z0-9.\-\u{80}-\u{10ffff}]+$/iu.test(text)) return null
  const name = domainToASCII(text)
  // It also reads `0x7f.1` and `2130706433` as an address, and refuses any other numeric last label.
  if (isIPv4(name) || name.length > longestHost || !name.split('.').every(isLabel)) return null
  return name
}

/** Also drops the full stops that IDNA reads as a dot: ideographic, fullwidth, halfwidth. */
export function withoutTrailingDot(host: string): string {
  return host.replace(/[.\u3002\uff0e\uff61]$/, '')
}

/** The stored form of an allowed domain (spec 2), or null when the entry is invalid. */
export function normalizeDomain(entry: string): string | null {
  const [authority = ''] = entry
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .split(/[/?#]/, 1)
  // A browser reads `\` as `/`: which side of it is the host depends on the reader.
  if (/[\s\\]/.test(authority)) return null
  const place = authority.slice(authority.lastIndexOf('@') + 1)

  if (isIPv6(place)) return canonicalIPv6(place)
  if (!place.startsWith('*.')) return withoutWww(hostOf(place))
  const below = hostOf(place.slice(2))
  if (below === null || isIPv4(below) || isIPv6(below)) return null
  return below.length + 2 > longestHost ? null : `*.${below}`
}

/** Whether a browser at `origin` may connect. `allowedDomains` holds results of `normalizeDomain`. */
export function originAllowed(origin: string, allowedDomains: readonly string[]): boolean {
  if (allowedDomains.length === 0) return true
  const [, place] = /^https?:\/\/(.+)$/i.exec(origin) ?? []
  const host = place === undefined ? null : hostOf(place.toLowerCase())
  if (host === null) return false
  const bare = withoutWww(host)
  return allowedDomains.some((domain) =>
    domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : domain === host || domain === bare,
  )
}

/** The host of `host[:port]`: a name, an IPv4 address, or an IPv6 address without its brackets. */
function hostOf(place: string): string | null {
  const [, bracketed, plain = '', port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(place) ?? []
  if (Number(port) > 65_535) return null
  if (bracketed !== undefined) return isIPv6(bracketed) ? canonicalIPv6(bracketed) : null
  const host = withoutTrailingDot(plain)
  return isIPv4(host) ? host : hostName(host)
}

function canonicalIPv6(address: string): string | null {
  return address.includes('%') ? null : new URL(`http://[${address}]`).hostname.slice(1, -1)
}

/** Strips every leading `www.`, so that a stored domain is its own normalized form. */
function withoutWww(host: string | null): string | null {
  return host === null ? null : host.replace(/^(?:www\.)+/, '')
}

function isLabel(label: string): boolean {
  return (
    label.length <= longestLabel &&
    /^[a-z0-9-]+$/.test(label) &&
    !label.startsWith('-') &&
    !label.endsWith('-')
  )
}
