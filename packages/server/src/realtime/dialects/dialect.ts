import type { CloseReason } from '@plenum/protocol/realtime'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Denial, Identity } from '../authorization/identity.ts'
import type { RealtimeServices } from '../editors/realtime-services.ts'
import type { Connection, MessageReceiver } from '../sockets/connection.ts'

/** What the gateway gives to a dialect for each connection. */
export interface DialectContext {
  readonly connection: Connection
  readonly services: RealtimeServices
  readonly log: Log
  readonly clock: Clock
  /** Checks a token. Throws a `Denial`. */
  identify(token: string): Promise<Identity>
  /** Closes the connection. Delays the close when the same client was refused before (R46.1). */
  refuse(reason: CloseReason, message: string): void
}

/** One client, in the dialect that it speaks. */
export interface DialectClient extends MessageReceiver {
  /** Whether the URL must contain a token, because the protocol has no message for it. */
  readonly needsToken: boolean
  readonly isIdentified: boolean
  /** Whether the server is checking a token of a client that is not identified. The connection is on hold meanwhile. */
  readonly isChecking?: boolean
  /** The close reason for a client that does not identify itself in time. Default: `unauthenticated`. */
  readonly authTimeoutReason?: Denial
  /** The URL or the headers have identified the client. */
  onIdentified(identity: Identity): void
  /**
   * A ping, after a message without effect if the client takes silence for a dead connection and cannot see pings. One
   * buffer, because a write costs more than its bytes.
   */
  readonly pingFrames: Buffer
  /** The server drains: asks the client to reconnect after this time, if the protocol has a message for it. */
  onDrain(retryAfterMs: number): void
  /** The client has disconnected, and all its messages are delivered. */
  onDisconnected(): void
}

/** `name`: the part of the path after the name of the dialect, as the client sent it. */
export type CreateDialectClient = (context: DialectContext, name: string) => DialectClient
