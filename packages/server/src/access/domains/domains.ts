import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

const maxHostLength = 253
const maxLabelLength = 63
// A Unicode spelling may be longer than its ASCII name. This limits the work of the conversion.
const maxSpellingLength = 1024

/** The canonical ASCII form of a host name. Null: the text is not a host name. An IP literal is not a name. */
export function hostName(text: string): string | null {
  // domainToASCII parses a whole authority (`a@b`, `a/b`, `%61`), so it only gets characters that a name may have.
  if (text.length > maxSpellingLength || !/^[a-z0-9.\-\u{80}-\u{10ffff}]+$/iu.test(text)) return null
  const name = domainToASCII(text)
  // It also converts `0x7f.1` and `2130706433` to an address, and refuses any other numeric last label.
  if (isIPv4(name) || name.length > maxHostLength || !name.split('.').every(isLabel)) return null
  return name
}

/** Also removes the characters that IDNA treats as a dot: ideographic, fullwidth and halfwidth full stops. */
export function withoutTrailingDot(host: string): string {
  return host.replace(/[.\u3002\uff0e\uff61]$/, '')
}

/** The stored form of an allowed domain (spec 2). Null: the entry is invalid. */
export function normalizeDomain(entry: string): string | null {
  const [authority = ''] = entry
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .split(/[/?#]/, 1)
  // Browsers treat `\` as `/`, other parsers do not, so they would disagree about the host.
  if (/[\s\\]/.test(authority)) return null
  const place = authority.slice(authority.lastIndexOf('@') + 1)

  if (isIPv6(place)) return canonicalIPv6(place)
  if (!place.startsWith('*.')) return withoutWww(hostOf(place))
  const below = hostOf(place.slice(2))
  if (below === null || isIPv4(below) || isIPv6(below)) return null
  return below.length + 2 > maxHostLength ? null : `*.${below}`
}

/** Whether a browser page at `origin` may connect. `allowedDomains` are results of `normalizeDomain`. */
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

/** Strips every leading `www.`, so that normalizing a stored domain again does not change it. */
function withoutWww(host: string | null): string | null {
  return host === null ? null : host.replace(/^(?:www\.)+/, '')
}

function isLabel(label: string): boolean {
  return (
    label.length <= maxLabelLength &&
    /^[a-z0-9-]+$/.test(label) &&
    !label.startsWith('-') &&
    !label.endsWith('-')
  )
}
