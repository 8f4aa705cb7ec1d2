import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { addressBucket, clientAddress } from '../../access/domains/addresses.ts'

/** Addresses of clients that connect without a proxy: all requests of a connection have the same address. */
const known = new WeakMap<Socket, string>()

/** The address by which rate limits count the requests of the client (spec 0.7). */
export function requestAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trustedProxyHops: number,
): string {
  const isDirect = trustedProxyHops === 0
  const found = isDirect ? known.get(socket) : undefined
  if (found !== undefined) return found
  const forwardedFor = headers['x-forwarded-for']
  const entries = Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor
  const address = addressBucket(clientAddress(socket.remoteAddress ?? '', entries, trustedProxyHops))
  if (isDirect) known.set(socket, address)
  return address
}
