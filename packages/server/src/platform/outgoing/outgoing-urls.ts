import { isIP } from 'node:net'
import type { IsAllowedAddress, PrivateAddresses } from './allowed-addresses.ts'

/**
 * The ports that the Fetch standard refuses, because servers of other protocols, such as mail servers, listen there and may
 * take the lines of a request for commands. Redis (6379) and memcached (11211) do so too.
 */
const refusedPorts = new Set(
  [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 6379,
    11211,
  ].map(String),
)

/**
 * Whether the server calls such URLs: http or https, and a port for it. A user name or password in a URL would be stored
 * and shown in clear.
 */
export function isOutgoingUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, port } = new URL(text)
  const isHttp = protocol === 'http:' || protocol === 'https:'
  return isHttp && username === '' && password === '' && !refusedPorts.has(port)
}

/**
 * As `isOutgoingUrl`, and if the host is an IP address, in any spelling, the server may connect to it. A name of this machine
 * is refused, unless the system resolves names: no DNS server knows it.
 */
export function isCallableUrl(
  text: string,
  isAllowed: IsAllowedAddress,
  privateAddresses: PrivateAddresses = 'refused',
): boolean {
  if (!isOutgoingUrl(text)) return false
  const host = hostOf(new URL(text))
  return isIP(host) === 0 ? privateAddresses === 'allowed' || !namesThisMachine(text) : isAllowed(host)
}

/** Whether the host of the URL is `localhost`. */
export const namesThisMachine = (text: string): boolean => /(^|\.)localhost\.?$/.test(hostOf(new URL(text)))

/** The name or the IP address of the host, without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
