import type { IncomingMessage } from 'node:http'
import { addressBucket, clientAddress } from '../access/addresses.ts'

/** The client as it is counted (spec 0.7). */
export function requestAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trustedProxyHops: number,
): string {
  const forwardedFor = headers['x-forwarded-for']
  const entries = Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor
  return addressBucket(clientAddress(socket.remoteAddress ?? '', entries, trustedProxyHops))
}
