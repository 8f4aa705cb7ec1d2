import type { Connection } from './connection.ts'

/** How often the gateway sweeps. Access that ends by time alone must be noticed within a second. */
export const sweepMs = 500
/** A ping every 20 s. Some clients of y-websocket take 30 s without a message for a dead connection. */
const sweepsPerPing = 40
/** A connection without a sign of life in 56 sweeps, 28 s, is terminated, so that its user leaves within 35 s. */
const maxSilentSweeps = 56
/** Connections for which bytes wait are checked every 2.5 s. */
const sweepsPerCheck = 5

export interface WatchedClient {
  readonly connection: Connection
  /** See `DialectClient`. */
  readonly pingFrames: Buffer
  /** The client's place in the heartbeat, which sets it. -1 if the client is not watched. */
  slot: number
}

/**
 * Pings the clients and terminates dead connections. Silence is counted in sweeps, not in time, so that a server process
 * that was paused does not terminate all connections when it continues.
 */
export class Heartbeat {
  /** By slot. Undefined if the slot is free. */
  readonly #clients: (WatchedClient | undefined)[] = []
  readonly #freeSlots: number[] = []
  /**
   * By slot: sweeps since the last sign of life. Numbers in one array, because to visit the objects of ten thousand idle
   * connections costs almost as much as all pings.
   */
  #silentSweeps = new Uint8Array(1024)
  /** Clients for which bytes wait. */
  readonly #waiting = new Set<WatchedClient>()
  #sweeps = 0

  watch(client: WatchedClient): void {
    const slot = this.#freeSlots.pop() ?? this.#clients.length
    client.slot = slot
    this.#clients[slot] = client
    if (slot === this.#silentSweeps.length) {
      const silentSweeps = new Uint8Array(2 * slot)
      silentSweeps.set(this.#silentSweeps)
      this.#silentSweeps = silentSweeps
    }
    this.markAlive(client)
  }

  unwatch(client: WatchedClient): void {
    this.#clients[client.slot] = undefined
    this.#freeSlots.push(client.slot)
    client.slot = -1
    this.#waiting.delete(client)
  }

  /** Call it when the client has sent anything: a message, a ping or a pong. */
  markAlive({ slot }: WatchedClient): void {
    this.#silentSweeps[slot] = 0
  }

  /** Call it when the client has not read all that was written. */
  onBytesWait(client: WatchedClient): void {
    if (client.slot >= 0) this.#waiting.add(client)
  }

  /** Called every `sweepMs`. */
  sweep(): void {
    const sweeps = ++this.#sweeps
    if (sweeps % sweepsPerCheck === 0) for (const client of this.#waiting) this.#checkProgress(client)
    const { length } = this.#clients
    for (let slot = 0; slot < length; slot++) {
      const silentSweeps = (this.#silentSweeps[slot] as number) + 1
      this.#silentSweeps[slot] = silentSweeps
      if (silentSweeps >= maxSilentSweeps) this.#onSilent(slot)
    }
    const first = sweepsPerPing - 1 - ((sweeps - 1) % sweepsPerPing)
    for (let slot = first; slot < length; slot += sweepsPerPing) {
      const client = this.#clients[slot]
      if (client) client.connection.ping(client.pingFrames)
    }
  }

  /** A client that is receiving a large document sees pings only after it. */
  #checkProgress(client: WatchedClient): void {
    if (client.connection.checkProgress()) this.markAlive(client)
    if (!client.connection.hasWaiting) this.#waiting.delete(client)
  }

  /** A paused inbox reads no pongs. */
  #onSilent(slot: number): void {
    this.#silentSweeps[slot] = 0
    const connection = this.#clients[slot]?.connection
    if (!connection?.inbox.isPaused) connection?.terminate()
  }
}
