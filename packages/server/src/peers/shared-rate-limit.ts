import { createDecoder, hasContent, readUint8Array, readVarUint } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeUint8Array, writeVarUint } from 'lib0/encoding'
import type { Clock } from '../platform/clock.ts'
import { createRateLimit, type RateLimit } from '../platform/rate-limit.ts'
import { type Address, addressOf, type Peers } from './peers.ts'

/** Servers tell each other this often which calls they have counted. */
const tellEveryMs = 250
const keyBytes = 8

interface SharedRateLimitOptions {
  /** Names the limit to the other servers. */
  name: string
  limit: number
  windowSeconds: number
}

/**
 * A rate limit that all servers share. Each server counts its own calls and adds those that the others tell it. So the servers
 * together may exceed the limit by the calls of the last 250 ms. While the servers are not connected, each counts for itself.
 */
export function createSharedRateLimit(
  { name, limit, windowSeconds }: SharedRateLimitOptions,
  { peers, clock }: { peers: Peers; clock: Clock },
): Pick<RateLimit, 'take'> {
  const here = createRateLimit(limit, windowSeconds)
  if (limit === 0) return here
  const address = addressOf('rate limit', name)
  let untold = new Map<Address, number>()

  const tell = () => {
    const encoder = createEncoder()
    for (const [key, calls] of untold) {
      writeUint8Array(encoder, Buffer.from(key, 'latin1'))
      writeVarUint(encoder, calls)
    }
    untold = new Map()
    peers.send('calls', address, toUint8Array(encoder))
  }
  peers.listen('calls', address, (body) => {
    const decoder = createDecoder(body)
    while (hasContent(decoder)) {
      const key = Buffer.from(readUint8Array(decoder, keyBytes)).toString('latin1')
      here.add(key, readVarUint(decoder))
    }
  })

  return {
    async take(key) {
      const hashed = addressOf(key)
      const waitSeconds = await here.take(hashed)
      if (waitSeconds === 0 && peers.isConnected) {
        if (untold.size === 0) clock.setTimeout(tell, tellEveryMs)
        untold.set(hashed, (untold.get(hashed) ?? 0) + 1)
      }
      return waitSeconds
    },
  }
}
