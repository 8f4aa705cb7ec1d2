import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '@plenum/protocol'
import { limits } from '@plenum/protocol/realtime'
import { WebSocketServer } from 'ws'
import { newId } from '../access/ids.ts'
import type { VerifiedUser } from '../access/tokens/token-claims.ts'
import { type Clock, type StopTimer, systemClock } from '../platform/clock.ts'
import type { LiveNumbers } from '../platform/metrics/live-metrics.ts'
import type { UnsentAnswers } from '../platform/turns/unsent-answers.ts'
import type { EditorRef } from '../store/refs.ts'
import {
  backendIdentity,
  Denial,
  noTokenMessage,
  userIdentity,
  originDeniedMessage,
} from './authorization/identity.ts'
import type { OpenPage } from './authorization/open-pages.ts'
import type { DialectClient, DialectContext } from './dialects/dialect.ts'
import { dialectNames, dialects, type Endpoint, endpointOf } from './endpoints.ts'
import { storeUpdate } from './editors/request-update.ts'
import { identifyByRequest, identifyByToken, type IdentifyDeps } from './identify-client.ts'
import { ClientSocket, tooLargeReason } from './sockets/client-socket.ts'
import { Connection } from './sockets/connection.ts'
import { ConnectionCounts } from './sockets/connection-counts.ts'
import { Heartbeat, sweepMs } from './sockets/heartbeat.ts'
import { LateFrames } from './sockets/late-frames.ts'
import { guardIdentification } from './sockets/identification-guard.ts'
import { refuseUpgrade } from './sockets/refuse-upgrade.ts'
import { fingerprintOf, RepeatedRefusals } from './sockets/repeated-refusals.ts'

export interface GatewayDeps extends IdentifyDeps {
  maxConnections: number
  unsentAnswers: UnsentAnswers
  /** The address of the client, as rate limits count it. */
  addressOf: (request: IncomingMessage) => string
  /** Default: the clock of the system. */
  clock?: Clock | undefined
}

/** A client must identify itself within this time (R16). */
const authTimeoutMs = 5_000
/** On shutdown, each client is asked to reconnect at a random time within this time, so that not all reconnect at once. */
const maxReconnectDelayMs = 5_000
/** On shutdown, clients may send messages for at most this time. */
const drainMessagesMs = 1_000
/** On shutdown, clients have this time for their half of the closing handshake. */
const drainCloseTimeoutMs = 2_000

/**
 * All WebSocket connections. A connection is upgraded, identified by its request or its first message, and then delivers
 * its messages to the client object of its dialect until it closes.
 */
export class Gateway {
  readonly #deps: GatewayDeps
  readonly #clock: Clock
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // One message per socket and iteration of the event loop: decoding what twenty sockets have sent takes 60 ms.
    allowSynchronousEvents: false,
    maxPayload: limits.messageBytes,
    WebSocket: ClientSocket,
  })
  /** Connections whose request is being checked, and refused connections until they are closed. */
  readonly #arriving = new Set<Connection>()
  /** Connections that deliver messages. */
  readonly #clients = new Map<Connection, DialectClient>()
  readonly #heartbeat = new Heartbeat()
  readonly #counts = new ConnectionCounts(dialectNames)
  readonly #refusals: RepeatedRefusals
  readonly #lateFrames: LateFrames
  #stopSweeping: StopTimer = () => {}
  #isDraining = false
  /** Set while `drain` waits for the last client. */
  #onLastClientClosed: (() => void) | undefined

  constructor(deps: GatewayDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
    this.#lateFrames = new LateFrames(this.#clock)
    this.#refusals = new RepeatedRefusals({ clock: this.#clock, maxConnections: deps.maxConnections })
  }

  start(): void {
    this.#stopSweeping = this.#clock.setInterval(() => this.#sweep(), sweepMs)
  }

  get numbers(): LiveNumbers {
    const { connections, closes } = this.#counts
    return { connections, closes, ...this.#deps.services.numbers }
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', destroyThis)
    const endpoint = endpointOf(request.url ?? '')
    if (endpoint === undefined) {
      return refuseUpgrade(socket, new ApiError('NOT_FOUND', 'There is nothing at this path.'))
    }
    if (this.#isDraining) {
      return refuseUpgrade(socket, new ApiError('UNAVAILABLE', 'The server is shutting down.'))
    }
    if (this.#arriving.size + this.#clients.size >= this.#deps.maxConnections) {
      const message = 'Connection limit reached (LIMIT_CONNECTIONS).'
      return refuseUpgrade(socket, new ApiError('UNAVAILABLE', message))
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      this.#accept(ws, socket as Socket, request, endpoint)
    })
  }

  #accept(ws: ClientSocket, socket: Socket, request: IncomingMessage, endpoint: Endpoint): void {
    socket.setNoDelay(true)
    const { services, log, unsentAnswers } = this.#deps
    const connection = new Connection(newId('conn'), ws, socket, {
      scheduler: services.scheduler,
      unsentAnswers,
      lateFrames: this.#lateFrames,
      clock: this.#clock,
    })
    const { dialect, name, token } = endpoint
    // Computed now, so that the token is not kept in memory while the connection is open.
    const fingerprint = fingerprintOf(this.#deps.addressOf(request), name, token ?? '')
    const context: DialectContext = {
      connection,
      services,
      log,
      clock: this.#clock,
      identify: (token) => identifyByToken(this.#deps, connection, token, page),
      refuse: (reason, message) => this.#refusals.refuse(fingerprint, connection, reason, message),
    }
    const client = dialects[dialect](context, name)
    const { headers } = request
    const page = new ClientPage(headers, connection, client)
    this.#counts.countOpened(dialect)
    let stopGuard: (() => void) | undefined
    connection.onClosed = (code) => {
      this.#counts.countClosed(dialect, ws.sentCode ?? code)
      this.#deps.pages.leave(page)
      this.#arriving.delete(connection)
      stopGuard?.()
      this.#stopListening(connection, client)
    }
    this.#arriving.add(connection)
    identifyByRequest(this.#deps, connection, { headers, token, page }, client)
      .then((isAllowed) => {
        if (!isAllowed || !connection.isOpen) return client.onDisconnected()
        if (!client.isIdentified) stopGuard = this.#guard(socket, connection, client)
        this.#listen(ws, connection, client)
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'accepting a WebSocket connection failed')
        connection.close('unavailable', 'The server failed to accept the connection.')
      })
  }

  #listen(ws: ClientSocket, connection: Connection, client: DialectClient): void {
    this.#arriving.delete(connection)
    this.#clients.set(connection, client)
    const { oversizeReason } = client
    if (oversizeReason) ws.onTooLarge = () => client.deny(oversizeReason, tooLargeReason)
    this.#heartbeat.watch(connection, client)
    connection.inbox.start((data, isBinary) => deliver(connection, client, data, isBinary))
  }

  #stopListening(connection: Connection, client: DialectClient): void {
    if (!this.#clients.delete(connection)) return
    this.#heartbeat.unwatch(connection)
    if (this.#clients.size === 0) this.#onLastClientClosed?.()
    connection.inbox.deliverRest(() => client.onDisconnected())
  }

  #guard(socket: Socket, connection: Connection, client: DialectClient): () => void {
    return guardIdentification({
      socket,
      client,
      clock: this.#clock,
      timeoutMs: authTimeoutMs,
      onTimeout: () => {
        const { reason, message } = client.authTimeoutReason ?? new Denial('unauthenticated', noTokenMessage)
        client.deny(reason, message)
      },
      onTooManyBytes: () =>
        connection.close('badMessage', 'The first message must identify the client, in at most 16384 bytes.'),
    })
  }

  #sweep(): void {
    this.#heartbeat.sweep()
    this.#deps.unsentAnswers.cutExcess()
    void this.#deps.services.sweep()
  }

  /** See `Commits.whenRevokedCommitsEnded`. */
  whenRevokedCommitsEnded(apiKey: string): Promise<unknown> | undefined {
    return this.#deps.services.whenRevokedCommitsEnded(apiKey)
  }

  /** Stores the update of a REST request as if a client had sent it. Resolves when it is durable. Throws an `ApiError`. */
  storeUpdate(apiKey: string, user: VerifiedUser | 'backend', ref: EditorRef, update: Uint8Array) {
    const identity = user === 'backend' ? backendIdentity(apiKey) : userIdentity(user)
    return storeUpdate(this.#deps.services, identity, ref, update)
  }

  /** Asks clients to reconnect, where their protocol can, stores what they sent, and closes all connections. */
  async drain(): Promise<void> {
    const { services, pages } = this.#deps
    this.#isDraining = true
    for (const client of this.#clients.values()) {
      client.onDrain(Math.round(Math.random() * maxReconnectDelayMs))
    }
    await Promise.race([services.idle(), this.#pause(drainMessagesMs)])
    const connections = [...this.#arriving, ...this.#clients.keys()]
    for (const connection of connections) connection.inbox.stop()
    await services.scheduler.idle()
    await services.idle()
    for (const connection of connections) connection.close('restarting', 'The server is shutting down.')
    await Promise.race([this.#lastClientClosed(), this.#pause(drainCloseTimeoutMs)])
    for (const connection of connections) connection.terminate()
    this.#stopSweeping()
    await services.scheduler.idle()
    await services.idle()
    services.close()
    pages.close()
  }

  async #lastClientClosed(): Promise<void> {
    if (this.#clients.size === 0) return
    await new Promise<void>((resolve) => (this.#onLastClientClosed = resolve))
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimeout(resolve, ms))
  }
}

/** A class, because V8 gives an object literal with a getter a property table of 448 bytes. */
class ClientPage implements OpenPage {
  readonly origin: string | undefined
  readonly host: string | undefined
  readonly #connection: Connection
  readonly #client: DialectClient

  constructor({ origin, host }: IncomingHttpHeaders, connection: Connection, client: DialectClient) {
    this.origin = origin
    this.host = host
    this.#connection = connection
    this.#client = client
  }

  get isOpen(): boolean {
    return this.#connection.isOpen
  }

  close(): void {
    this.#client.deny('permissionDenied', originDeniedMessage)
  }
}

/** Not a closure: it would keep the whole request in memory for as long as the socket is open. */
function destroyThis(this: Duplex): void {
  this.destroy()
}

function deliver(connection: Connection, client: DialectClient, data: Buffer, isBinary: boolean): void {
  if (!connection.acceptsMessages) return
  try {
    if (!client.receive(data, isBinary)) {
      client.deny('badMessage', 'The message is not part of the protocol.')
    }
  } catch {
    client.deny('badMessage', 'The message is malformed.')
  }
}
