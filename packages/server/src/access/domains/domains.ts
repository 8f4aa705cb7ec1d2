import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

const maxHostLength = 253
const maxLabelLength = 63
// A name in Unicode may be longer than in ASCII. This limits the time of the conversion.
const maxSpellingLength = 1024

/** Returns the canonical ASCII form of a host name. Null: the text is not a host name. An IP address is not a host name. */
export function hostName(text: string): string | null {
  // domainToASCII accepts more than a name (`a@b`, `a/b`, `%61`), so it gets only characters that a name may have.
  if (text.length > maxSpellingLength || !/^[a-z0-9.\-\u{80}-\u{10ffff}]+$/iu.test(text)) return null
  const name = domainToASCII(text)
  // domainToASCII turns `0x7f.1` and `2130706433` into an IPv4 address, and refuses other names whose last label is a number.
  if (isIPv4(name) || name.length > maxHostLength || !name.split('.').every(isLabel)) return null
  return name
}

/** Removes a dot at the end, or a character that IDNA treats as one: an ideographic, fullwidth or halfwidth full stop. */
export function withoutTrailingDot(host: string): string {
  return host.replace(/[.\u3002\uff0e\uff61]$/, '')
}

/** Returns the stored form of an allowed domain (spec 2). Null: the entry is invalid. */
export function normalizeDomain(entry: string): string | null {
  const [authority = ''] = entry
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .split(/[/?#]/, 1)
  // Browsers treat `\` as `/`, other parsers do not. So they would find different hosts.
  if (/[\s\\]/.test(authority)) return null
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1)

  if (isIPv6(hostAndPort)) return canonicalIPv6(hostAndPort)
  if (!hostAndPort.startsWith('*.')) return withoutWww(hostOf(hostAndPort))
  const below = hostOf(hostAndPort.slice(2))
  if (below === null || isIPv4(below) || isIPv6(below)) return null
  return below.length + 2 > maxHostLength ? null : `*.${below}`
}

/** What programs write where a domain is missing. */
const missingValues = new Set(['undefined', 'null', 'nan', 'true', 'false'])

/**
 * Returns the stored form of a domain that is added. Null: the entry is invalid, or surely a mistake: an email address, a
 * missing value, or a name without a letter in its last part, such as a date. Stored domains may be mistakes, and are removed
 * by `normalizeDomain`.
 */
export function normalizeNewDomain(entry: string): string | null {
  // In a URL, `user@` is a user name.
  if (entry.includes('@') && !entry.includes('//')) return null
  const domain = normalizeDomain(entry)
  if (domain === null || isIPv4(domain) || isIPv6(domain)) return domain
  const labels = domain.split('.')
  return missingValues.has(labels.filter((label) => label !== '*').join('.')) ||
    !/[a-z]/.test(labels.at(-1) ?? '')
    ? null
    : domain
}

/** Whether a browser page at `origin` may connect. `allowedDomains` are results of `normalizeDomain`. */
export function originAllowed(origin: string, allowedDomains: readonly string[]): boolean {
  if (allowedDomains.length === 0) return true
  const [, hostAndPort] = /^https?:\/\/(.+)$/i.exec(origin) ?? []
  const host = hostAndPort === undefined ? null : hostOf(hostAndPort.toLowerCase())
  if (host === null) return false
  const bare = withoutWww(host)
  return allowedDomains.some((domain) =>
    domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : domain === host || domain === bare,
  )
}

/** Returns the host of `host[:port]`: a name, an IPv4 address, or an IPv6 address without its brackets. Null: it is invalid. */
function hostOf(hostAndPort: string): string | null {
  const [, bracketed, plain = '', port = ''] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(hostAndPort) ?? []
  if (Number(port) > 65_535) return null
  if (bracketed !== undefined) return isIPv6(bracketed) ? canonicalIPv6(bracketed) : null
  const host = withoutTrailingDot(plain)
  return isIPv4(host) ? host : hostName(host)
}

function canonicalIPv6(address: string): string | null {
  return address.includes('%') ? null : new URL(`http://[${address}]`).hostname.slice(1, -1)
}

/** Removes every `www.` at the beginning, so that normalizing a stored domain again does not change it. */
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
