import { createHash } from 'node:crypto'
import type { CloseReason } from '@plenum/protocol/realtime'
import { type Connection, isFinal } from './connection.ts'

/**
 * How long after it connected a client is closed that is refused for the first time, the second time, and so on. Below the
 * 30 s after which y-websocket gives up a connection on which it hears nothing.
 */
const delaysMs = [0, 1_000, 2_000, 4_000, 8_000, 15_000] as const
/** A client that was not refused for this long starts again without a delay. */
const forgetMs = 60_000
/** Clients that are remembered, 200 bytes each. */
const maxClients = 10_000
/** Connections that are kept open only to be closed later, however many the server may have. */
const maxDelayed = 2_000

interface Refused {
  times: number
  /** Epoch milliseconds. Connections that the client opens side by side count as one attempt until then. */
  until: number
}

/**
 * Slows down clients that connect again right after they were refused. Versions of y-websocket before 3.1 do so eight times
 * a second and never stop: a successful WebSocket handshake resets their back-off. The first refusal closes the connection
 * at once, so that a client that stops by itself learns the reason at once.
 */
export class RepeatedRefusals {
  readonly #now: () => number
  readonly #maxDelayed: number
  /** The client that was refused longest ago is first. */
  readonly #clients = new Map<string, Refused>()
  #delayed = 0

  constructor({ now, maxConnections }: { now: () => number; maxConnections: number }) {
    this.#now = now
    this.#maxDelayed = Math.min(maxDelayed, Math.floor(maxConnections / 10))
  }

  /** Closes the connection of `client`, at once or later. */
  refuse(client: string, connection: Connection, reason: CloseReason, message: string): void {
    if (!isFinal(reason) && reason !== 'rateLimited') return connection.close(reason, message)
    const waitMs = this.delayOf(client) - connection.ageMs
    if (waitMs <= 0 || this.#delayed >= this.#maxDelayed) return connection.close(reason, message)
    this.#delayed++
    connection.closeAfter(waitMs, reason, message, () => this.#delayed--)
  }

  /** Counts a refusal; how many milliseconds after it connected the client is to be closed. */
  delayOf(client: string): number {
    const now = this.#now()
    const known = this.#clients.get(client)
    const isRecent = known !== undefined && now < known.until + forgetMs
    const times = isRecent ? known.times + (now < known.until ? 0 : 1) : 1
    const delayMs = delaysMs[Math.min(times, delaysMs.length) - 1] as number
    const until = isRecent && now < known.until ? known.until : now + delayMs
    this.#clients.delete(client)
    this.#clients.set(client, { times, until })
    if (this.#clients.size > maxClients) this.#clients.delete(this.#clients.keys().next().value as string)
    return delayMs
  }
}

/** Tells clients from each other without keeping their tokens. */
export const fingerprintOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
