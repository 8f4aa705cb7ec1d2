import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { IsAllowedAddress, PrivateAddresses } from './allowed-addresses.ts'
import { hostOf } from './outgoing-urls.ts'

/** Returns the IP addresses of a host name. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Thrown if a host has no address that the server may connect to. */
export class AddressRefused extends Error {
  override name = 'AddressRefused'
}

/** Thrown if the server does not call the URL, whatever its address is. */
export class UrlRefused extends AddressRefused {
  override name = 'UrlRefused'
}

/**
 * Returns the addresses of the host of a URL to which the server may connect. Connect to them and do not resolve the name
 * again: the next answer of its DNS server may be a private address.
 */
export async function resolveHost(
  url: URL,
  isAllowed: IsAllowedAddress,
  resolve: Resolve,
): Promise<readonly string[]> {
  const host = hostOf(url)
  const found = isIP(host) ? [host] : await resolve(host)
  const allowed = found.filter(isAllowed)
  if (allowed.length > 0) return allowed
  throw new AddressRefused('The host has no public address (OUTGOING_PRIVATE_ADDRESSES).')
}

/**
 * Names of the operator's own network may be in the hosts file, which only the system's resolver reads. It uses threads
 * that the whole process shares, so a DNS server of a tenant that does not answer would delay the lookups of all tenants.
 * Public names are resolved without threads.
 */
export const resolverFor = (privateAddresses: PrivateAddresses): Resolve =>
  privateAddresses === 'allowed' ? resolveBySystem : resolveByDns

async function resolveBySystem(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

async function resolveByDns(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = [v4, v6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}
