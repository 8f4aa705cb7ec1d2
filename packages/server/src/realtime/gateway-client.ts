import type { IncomingHttpHeaders } from 'node:http'
import type { CloseReason } from '@plenum/protocol/realtime'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import { type Identity, originDeniedMessage } from './authorization/identity.ts'
import type { OpenPage } from './authorization/open-pages.ts'
import type { DialectClient, DialectContext } from './dialects/dialect.ts'
import type { RealtimeServices } from './editors/realtime-services.ts'
import { type DialectName, dialects, type Endpoint } from './endpoints.ts'
import { identifyByToken, type IdentifyDeps } from './identify-client.ts'
import type { Connection, ConnectionListener } from './sockets/connection.ts'
import type { Heartbeat, WatchedClient } from './sockets/heartbeat.ts'
import { fingerprintOf, type RepeatedRefusals } from './sockets/repeated-refusals.ts'

/** What all clients share. */
export interface GatewayClientDeps extends IdentifyDeps {
  clock: Clock
  refusals: RepeatedRefusals
  heartbeat: Heartbeat
  onClosed: (client: GatewayClient, code: number) => void
}

/**
 * One connection with its dialect, and the browser page that opened it. A class without closures, because they would take
 * more memory than its fields in each of ten thousand connections.
 */
export class GatewayClient implements DialectContext, OpenPage, WatchedClient, ConnectionListener {
  readonly connection: Connection
  readonly dialect: DialectClient
  readonly dialectName: DialectName
  readonly origin: string | undefined
  readonly host: string | undefined
  slot = -1
  readonly #deps: GatewayClientDeps
  readonly #fingerprint: string

  constructor(
    deps: GatewayClientDeps,
    connection: Connection,
    { dialect, name, token }: Endpoint,
    { headers, address }: { headers: IncomingHttpHeaders; address: string },
  ) {
    this.#deps = deps
    this.connection = connection
    connection.listener = this
    this.origin = headers.origin
    this.host = headers.host
    // Computed now, so that the token is not kept in memory while the connection is open.
    this.#fingerprint = fingerprintOf(address, name, token ?? '')
    this.dialectName = dialect
    this.dialect = dialects[dialect](this, name)
  }

  get services(): RealtimeServices {
    return this.#deps.services
  }

  get log(): Log {
    return this.#deps.log
  }

  get clock(): Clock {
    return this.#deps.clock
  }

  identify(token: string): Promise<Identity> {
    return identifyByToken(this.#deps, this.connection, token, this)
  }

  refuse(reason: CloseReason, message: string): void {
    this.#deps.refusals.refuse(this.#fingerprint, this.connection, reason, message)
  }

  get pingFrames(): Buffer {
    return this.dialect.pingFrames
  }

  onAlive(): void {
    this.#deps.heartbeat.markAlive(this)
  }

  onBytesWait(): void {
    this.#deps.heartbeat.onBytesWait(this)
  }

  onConnectionClosed(code: number): void {
    this.#deps.onClosed(this, code)
  }

  get isOpen(): boolean {
    return this.connection.isOpen
  }

  close(): void {
    this.dialect.deny('permissionDenied', originDeniedMessage)
  }
}
