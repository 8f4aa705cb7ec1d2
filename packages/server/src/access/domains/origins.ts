import { isIP } from 'node:net'
import type { Db } from '../../store/engine/db.ts'
import * as domains from '../../store/domains.ts'
import { originAllowed } from './domains.ts'

/** The web page that sent a request, as the headers describe it. */
export interface Page {
  /** The header `Origin`. Undefined: the request is treated as one that no browser page sent. */
  readonly origin: string | undefined
  /** The header `Host`. */
  readonly host: string | undefined
}

/**
 * Whether the page was served by this server: its own pages may use every API key. An origin that equals `Host` proves
 * nothing, because another domain may resolve to the server's address (DNS rebinding). So `Host` is trusted only if it needs
 * no DNS: for an IP address and for `localhost`. A server with a domain gets its origins from `PUBLIC_URL`.
 */
export function isOwnPage({ origin, host }: Page, publicOrigins: readonly string[]): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false
  if (publicOrigins.includes(origin)) return true
  const url = new URL(origin)
  return url.host === host && needsNoResolution(url.hostname)
}

const needsNoResolution = (hostname: string): boolean =>
  hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

/** Whether a connection from this page may use the API key (spec 2). */
export async function pageMayConnect(
  db: Db,
  apiKey: string,
  page: Page,
  publicOrigins: readonly string[],
): Promise<boolean> {
  if (page.origin === undefined || isOwnPage(page, publicOrigins)) return true
  return originAllowed(page.origin, await domains.all(db, apiKey))
}
