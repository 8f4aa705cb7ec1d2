import { createHmac } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Clock } from '../../platform/clock.ts'
import * as addressCalls from '../../store/address-calls.ts'
import type { Database } from '../../store/engine/db.ts'

const windowMs = 60 * 60 * 1000
/** Only refused addresses are remembered. If more are refused, the oldest are counted in the database again. */
const maxRefused = 10_000

export interface AddressLimitDeps {
  database: Database
  clock: Clock
  /** Hashes the addresses of clients, which are not stored. */
  key: Buffer
}

/**
 * Limits the calls of a client's address in an hour. The database counts them, so the limit holds over all servers and
 * restarts. Without the database no call is allowed.
 */
export class AddressLimit {
  readonly #deps: AddressLimitDeps
  /** When a refused address may call again. Its calls until then need no query. */
  readonly #refusedUntil = new Map<string, number>()

  constructor(deps: AddressLimitDeps) {
    this.#deps = deps
  }

  /** Counts one call. Returns 0 if it is allowed, otherwise the seconds to wait. */
  async take(path: string, address: string, limit: number): Promise<number> {
    const { database, clock, key } = this.#deps
    const now = clock.now()
    const addressHash = createHmac('sha256', key).update(`${path} ${address}`).digest('base64url')
    const refusedUntil = this.#refusedUntil.get(addressHash)
    if (refusedUntil !== undefined && refusedUntil > now) return secondsUntil(refusedUntil, now)
    this.#refusedUntil.delete(addressHash)
    const counted = await database
      .write((db) => addressCalls.count(db, { addressHash, now, windowMs }), `address ${addressHash}`)
      .catch((cause: unknown) => {
        throw new ApiError('UNAVAILABLE', 'The database is not available. Try again.', {
          retryAfterSeconds: 1,
          cause,
        })
      })
    if (counted.calls <= limit) return 0
    const [oldest] = this.#refusedUntil.keys()
    if (oldest !== undefined && this.#refusedUntil.size >= maxRefused) this.#refusedUntil.delete(oldest)
    this.#refusedUntil.set(addressHash, counted.endsAt)
    return secondsUntil(counted.endsAt, now)
  }
}

const secondsUntil = (time: number, now: number) => Math.max(1, Math.ceil((time - now) / 1000))
