import type { Connection } from './connection.ts'

/** How often the gateway sweeps. Access that ends by time alone must be noticed within a second. */
export const sweepMs = 500
/** A connection is checked every 2.5 s. */
const sweepsPerCheck = 5
/** A ping every 20 s. Some clients of y-websocket take 30 s without a message for a dead connection. */
const sweepsPerPing = 40
/** A connection without a sign of life in 12 checks, 30 s, is terminated, so that its user leaves within 35 s. */
const maxSilentChecks = 12

interface WatchedClient {
  readonly client: { keepAlive(): void }
  /** Checks since the last sign of life. */
  silentChecks: number
}

/**
 * Pings the clients and terminates dead connections. Silence is counted in checks, not in time, so that a server process
 * that was paused does not terminate all connections when it continues.
 */
export class Heartbeat {
  /** New connections join the groups in turn. Each sweep pings one group and checks eight. */
  readonly #groups = Array.from({ length: sweepsPerPing }, () => new Map<Connection, WatchedClient>())
  #sweeps = 0
  #watchedCount = 0

  /** `client.keepAlive` sends a message for clients that take silence for a dead connection and cannot see pings. */
  watch(connection: Connection, client: { keepAlive(): void }): void {
    const group = this.#groups[this.#watchedCount++ % sweepsPerPing] as Map<Connection, WatchedClient>
    group.set(connection, { client, silentChecks: 0 })
  }

  unwatch(connection: Connection): void {
    for (const group of this.#groups) if (group.delete(connection)) return
  }

  /** Called every `sweepMs`. */
  sweep(): void {
    const sweeps = ++this.#sweeps
    for (const [index, group] of this.#groups.entries()) {
      if ((sweeps + index) % sweepsPerCheck === 0)
        for (const [connection, one] of group) check(connection, one)
      if ((sweeps + index) % sweepsPerPing === 0) for (const [connection, one] of group) ping(connection, one)
    }
  }
}

function check(connection: Connection, watched: WatchedClient): void {
  const isAlive = connection.takeAlive()
  // A client that is receiving a large document sees pings only after it, and a paused inbox reads no pongs.
  if (connection.checkProgress() || isAlive || connection.inbox.isPaused) watched.silentChecks = 0
  else if (++watched.silentChecks >= maxSilentChecks) connection.terminate()
}

/** The ping takes the keep-alive message along, because a write costs more than its bytes. */
function ping(connection: Connection, { client }: WatchedClient): void {
  client.keepAlive()
  connection.ping()
}
