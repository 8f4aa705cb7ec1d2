import { createHash } from 'node:crypto'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Clock } from '../../platform/clock.ts'
import { type Connection, isFinal } from './connection.ts'

/**
 * Time from the opening of a connection to its close, for the first refusal of a client, the second, and so on. All are below
 * 30 s, because y-websocket gives up a silent connection after 30 s.
 */
const delaysMs = [0, 1_000, 2_000, 4_000, 8_000, 15_000] as const
/** After this time without a refusal, a client starts again without a delay. */
const forgetMs = 60_000
/** How many refused clients the server remembers. Each takes 200 bytes. */
const maxClients = 10_000
/** How many connections may wait for their delayed close. Never more than a tenth of the connection limit. */
const maxDelayed = 2_000

interface RefusedClient {
  attempts: number
  /** Epoch milliseconds. Until then, further connections of the client count as the same attempt. */
  attemptEndsAt: number
}

/**
 * Slows down clients that reconnect right after a refusal. Versions of y-websocket before 3.1 do so eight times a second
 * and never stop, because a successful WebSocket handshake resets their back-off. The first refusal closes immediately, so
 * a client that stops by itself learns the reason immediately.
 */
export class RepeatedRefusals {
  readonly #clock: Clock
  readonly #maxDelayed: number
  /** By fingerprint. The client whose last refusal is oldest is first. */
  readonly #clients = new Map<string, RefusedClient>()
  /** How many connections wait for their delayed close. */
  #delayedCount = 0

  constructor({ clock, maxConnections }: { clock: Clock; maxConnections: number }) {
    this.#clock = clock
    this.#maxDelayed = Math.min(maxDelayed, Math.floor(maxConnections / 10))
  }

  /** Closes the connection, immediately or after a delay. `client` is a fingerprint. */
  refuse(client: string, connection: Connection, reason: CloseReason, message: string): void {
    if (!isFinal(reason) && reason !== 'rateLimited') return connection.close(reason, message)
    const waitMs = this.recordRefusal(client) - connection.ageMs
    if (waitMs <= 0 || this.#delayedCount >= this.#maxDelayed) return connection.close(reason, message)
    this.#delayedCount++
    connection.closeAfter(waitMs, reason, message, () => this.#delayedCount--)
  }

  /** Returns how many milliseconds after its opening the connection is closed. */
  recordRefusal(client: string): number {
    const now = this.#clock.now()
    const known = this.#clients.get(client)
    const isRecent = known !== undefined && now < known.attemptEndsAt + forgetMs
    const attempts = isRecent ? known.attempts + (now < known.attemptEndsAt ? 0 : 1) : 1
    const delayMs = delaysMs[Math.min(attempts, delaysMs.length) - 1] as number
    const attemptEndsAt = isRecent && now < known.attemptEndsAt ? known.attemptEndsAt : now + delayMs
    this.#clients.delete(client)
    this.#clients.set(client, { attempts, attemptEndsAt })
    if (this.#clients.size > maxClients) this.#clients.delete(this.#clients.keys().next().value as string)
    return delayMs
  }
}

/** Distinguishes clients without storing their tokens. */
export const fingerprintOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
