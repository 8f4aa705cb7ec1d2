import type { Connection } from './connection.ts'

/** How often the gateway sweeps. Access that ends by time alone must be noticed within a second. */
export const sweepMs = 500
/** A ping every 10 s. */
const sweepsPerPing = 20
/** A keep-alive message every 20 s. */
const sweepsPerKeepAlive = 40
/** A connection without a sign of life for 25 s is terminated, so that its user leaves within 35 s. */
const maxSilentSweeps = 50

interface WatchedConnection {
  readonly connection: Connection
  readonly sendKeepAlive: () => void
  sweeps: number
  lastSeenSweep: number
}

/** One connection that the heartbeat watches. */
export interface Pulse {
  /** Call it when the client has sent anything: a message, a ping or a pong. */
  onReceived(): void
  /** Stops watching the connection. */
  stop(): void
}

/**
 * Pings the clients and terminates dead connections. Silence is counted in sweeps, not in time, so that a server process
 * that was paused does not terminate all connections when it continues.
 */
export class Heartbeat {
  readonly #watched = new Set<WatchedConnection>()

  /** `sendKeepAlive` sends a message for clients that take silence for a dead connection and cannot see pings. */
  watch(connection: Connection, sendKeepAlive: () => void): Pulse {
    const watched: WatchedConnection = { connection, sendKeepAlive, sweeps: 0, lastSeenSweep: 0 }
    this.#watched.add(watched)
    return {
      onReceived: () => {
        watched.lastSeenSweep = watched.sweeps
      },
      stop: () => void this.#watched.delete(watched),
    }
  }

  /** Called every `sweepMs`. */
  sweep(): void {
    for (const watched of this.#watched) {
      const { connection, sendKeepAlive } = watched
      const sweep = ++watched.sweeps
      // A client that is receiving a large document sees pings only after it, and a paused inbox reads no pongs.
      if (connection.checkProgress() || connection.inbox.isPaused) watched.lastSeenSweep = sweep
      if (sweep - watched.lastSeenSweep > maxSilentSweeps) connection.terminate()
      else {
        // The ping takes the keep-alive message along, because a write costs more than its bytes.
        if (sweep % sweepsPerKeepAlive === 0) sendKeepAlive()
        if (sweep % sweepsPerPing === 0) connection.ping()
      }
    }
  }
}
