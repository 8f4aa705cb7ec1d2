import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import { hostName, withoutTrailingDot } from './domains.ts'

/** Well-known disposable domains that are missing from the bundled list. */
const unlisted = [
  '10minutemail.org',
  '33mail.com',
  'burnermail.io',
  'disposableemail.com',
  'disposablemail.com',
  'luxusmail.org',
  'spamgourmet.com',
  'temp-mail.io',
  'tempmail.com',
  'tempmail.dev',
  'tempmail.net',
  'tempmail.org',
  'tempmailaddress.com',
  'temporarymail.com',
  'throwaway.email',
]

type DisposableOptions = {
  /** Disposable domains besides the bundled list. */
  extra?: readonly string[]
  /** Domains that are accepted although listed, with all their subdomains. */
  allow?: readonly string[]
}

/** Creates a check whether the domain of an email address, or a parent of that domain, is disposable. Reads the list once. */
export function createDisposableCheck({
  extra = [],
  allow = [],
}: DisposableOptions): (email: string) => boolean {
  const refused = disposableEmailBlocklistSet()
  for (const domain of [...unlisted, ...extra]) refused.add(canonical(domain))
  const allowed = new Set(allow.map(canonical))

  return (email) => {
    const domains = withParents(canonical(email.slice(email.lastIndexOf('@') + 1)))
    return domains.some((domain) => refused.has(domain)) && !domains.some((domain) => allowed.has(domain))
  }
}

/**
 * The form in which domains are compared. Text that is not a host name is kept, so that `a_b.mailinator.com` still matches
 * its parent domain.
 */
function canonical(domain: string): string {
  const text = withoutTrailingDot(domain.trim())
  return hostName(text) ?? text.toLowerCase()
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. A name has at most 127 labels. More are dropped, because the time grows with their square. */
function withParents(domain: string): string[] {
  const labels = domain.split('.').slice(-127)
  return labels.map((_, index) => labels.slice(index).join('.'))
}
