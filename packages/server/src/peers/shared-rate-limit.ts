import { createDecoder, hasContent, readUint8Array, readVarUint } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeUint8Array, writeVarUint } from 'lib0/encoding'
import type { Clock } from '../platform/clock.ts'
import { createRateLimit, type RateLimit } from '../platform/rate-limit.ts'
import { type Address, addressOf, type Peers } from './peers.ts'

/** Servers send each other this often which calls they have counted. */
const sendEveryMs = 250
const keyBytes = 8

interface SharedRateLimitOptions {
  /** Names the limit to the other servers. */
  name: string
  limit: number
  windowSeconds: number
}

/**
 * A rate limit that all servers share. Each server counts its own calls and adds those of the others. So the servers
 * together may exceed the limit by the calls of the last 250 ms. While the servers are not connected, each counts for itself.
 */
export function createSharedRateLimit(
  { name, limit, windowSeconds }: SharedRateLimitOptions,
  { peers, clock }: { peers: Peers; clock: Clock },
): Pick<RateLimit, 'take'> {
  const own = createRateLimit(limit, windowSeconds)
  if (limit === 0) return own
  const address = addressOf('rate limit', name)
  let unsent = new Map<Address, number>()

  const sendCounts = () => {
    const encoder = createEncoder()
    for (const [key, calls] of unsent) {
      writeUint8Array(encoder, Buffer.from(key, 'latin1'))
      writeVarUint(encoder, calls)
    }
    unsent = new Map()
    peers.send('calls', address, toUint8Array(encoder))
  }
  peers.listen('calls', address, (body) => {
    const decoder = createDecoder(body)
    while (hasContent(decoder)) {
      const key = Buffer.from(readUint8Array(decoder, keyBytes)).toString('latin1')
      own.add(key, readVarUint(decoder))
    }
  })

  return {
    async take(key) {
      const hashed = addressOf(key)
      const waitSeconds = await own.take(hashed)
      if (waitSeconds === 0 && peers.isConnected) {
        if (unsent.size === 0) clock.setTimeout(sendCounts, sendEveryMs)
        unsent.set(hashed, (unsent.get(hashed) ?? 0) + 1)
      }
      return waitSeconds
    },
  }
}
