import type { CloseReason } from '@plenum/protocol/realtime'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Denial, Identity } from '../authorization/identity.ts'
import type { RealtimeServices } from '../editors/realtime-services.ts'
import type { Connection } from '../sockets/connection.ts'

/** What the gateway gives to a dialect for each connection. */
export interface DialectContext {
  readonly connection: Connection
  readonly services: RealtimeServices
  readonly log: Log
  readonly clock: Clock
  /** Checks a token. Throws a `Denial`. */
  readonly identify: (token: string) => Promise<Identity>
  /** Closes the connection. Delays the close when the same client was refused before (R46.1). */
  readonly refuse: (reason: CloseReason, message: string) => void
}

/** One client, in the dialect that it speaks. */
export interface DialectClient {
  /** Whether the URL must contain a token, because the protocol has no message for it. */
  readonly needsToken: boolean
  readonly isIdentified: boolean
  /** Whether the server is checking a token of a client that is not identified. The connection is on hold meanwhile. */
  readonly isChecking?: boolean
  /** The close reason for a client that does not identify itself in time. Default: `unauthenticated`. */
  readonly authTimeoutReason?: Denial
  /** The close reason for a client that sends a message above the limit of all messages. Default: code 1009 of `ws`. */
  readonly oversizeReason?: CloseReason
  /** The URL or the headers have identified the client. */
  onIdentified(identity: Identity): void
  /** Handles a message. Returns false if it is not part of the protocol. An error that it throws closes this connection. */
  receive(data: Buffer, isBinary: boolean): boolean
  /** Sends a message without effect, because some clients take silence for a dead connection. */
  keepAlive(): void
  /** Closes the connection of the client, and says why. */
  deny(reason: CloseReason, message: string): void
  /** The server drains: asks the client to reconnect after this time, if the protocol has a message for it. */
  onDrain(retryAfterMs: number): void
  /** The client has disconnected, and all its messages are delivered. */
  onDisconnected(): void
}

/** `name`: the part of the path after the name of the dialect, as the client sent it. */
export type CreateDialectClient = (context: DialectContext, name: string) => DialectClient
