import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import { hostName, withoutTrailingDot } from './domains.ts'

/** Well-known ones that the list does not have. */
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
  /** Domains refused besides the bundled list. */
  extra?: readonly string[]
  /** Domains accepted although listed, with everything below them. */
  allow?: readonly string[]
}

/** Builds the check whether an email's domain, or a parent of it, is disposable; reads the list once. */
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

/** Text that is no host name stays readable, so that `a_b.mailinator.com` is still found below its parent. */
function canonical(domain: string): string {
  const text = withoutTrailingDot(domain.trim())
  return hostName(text) ?? text.toLowerCase()
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. A name has at most 127 labels; more would only cost quadratic time. */
function withParents(domain: string): string[] {
  const labels = domain.split('.').slice(-127)
  return labels.map((_, index) => labels.slice(index).join('.'))
}
