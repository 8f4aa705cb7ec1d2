import { isIP } from 'node:net'
import type { Db } from '../../store/engine/db.ts'
import * as domains from '../../store/domains.ts'
import { originAllowed } from './domains.ts'

/** What the headers of a request tell of the page that it comes from. Only browsers send an origin. */
export interface Page {
  readonly origin: string | undefined
  /** The header `Host`. */
  readonly host: string | undefined
}

/**
 * Whether the page is one of the server itself: those may use every API key. `Host` alone proves nothing, because a foreign
 * domain may resolve to the address of the server (DNS rebinding). It counts where no domain is resolved: an IP address, and
 * `localhost`. A server with a domain is told its origin by `PUBLIC_URL`.
 */
export function isOwnPage({ origin, host }: Page, publicOrigins: readonly string[]): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false
  if (publicOrigins.includes(origin)) return true
  const url = new URL(origin)
  return url.host === host && isUnresolved(url.hostname)
}

const isUnresolved = (hostname: string): boolean =>
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
