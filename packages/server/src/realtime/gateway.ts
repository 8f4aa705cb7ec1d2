import type { IncomingMessage, Server } from 'node:http'
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
import { backendIdentity, Denial, noTokenMessage, userIdentity } from './authorization/identity.ts'
import { dialectNames, type Endpoint, endpointOf } from './endpoints.ts'
import { storeUpdate } from './editors/request-update.ts'
import { GatewayClient, type GatewayClientDeps } from './gateway-client.ts'
import { identifyByRequest, type IdentifyDeps } from './identify-client.ts'
import { ClientSocket } from './sockets/client-socket.ts'
import { Connection } from './sockets/connection.ts'
import { ConnectionCounts } from './sockets/connection-counts.ts'
import { Heartbeat, sweepMs } from './sockets/heartbeat.ts'
import { LateFrames } from './sockets/late-frames.ts'
import { guardIdentification } from './sockets/identification-guard.ts'
import { refuseUpgrade } from './sockets/refuse-upgrade.ts'
import { RepeatedRefusals } from './sockets/repeated-refusals.ts'

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
/** On shutdown, clients are asked to reconnect at random times within this time at most, so that not all do it at once. */
const maxReconnectDelayMs = 5_000
/** On shutdown, clients may send messages for at most this time. */
const drainMessagesMs = 1_000
/**
 * On shutdown, connections are closed at random times, so that clients without a message that asks them to reconnect do not all
 * reconnect at once: about 200 in a second, or more if that would take longer than `maxClosingMs`. Others are asked at the same
 * rate.
 */
const msPerClose = 5
const maxClosingMs = 2_000
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
  readonly #arriving = new Set<GatewayClient>()
  /** Connections that deliver messages. */
  readonly #clients = new Set<GatewayClient>()
  readonly #heartbeat = new Heartbeat()
  readonly #counts = new ConnectionCounts(dialectNames)
  readonly #clientDeps: GatewayClientDeps
  readonly #lateFrames: LateFrames
  #stopSweeping: StopTimer = () => {}
  #isDraining = false
  /** Set while `drain` waits for the last client. */
  #onLastClientClosed: (() => void) | undefined

  constructor(deps: GatewayDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
    this.#lateFrames = new LateFrames(this.#clock)
    const { maxConnections } = deps
    this.#clientDeps = {
      ...deps,
      clock: this.#clock,
      heartbeat: this.#heartbeat,
      refusals: new RepeatedRefusals({ clock: this.#clock, maxConnections }),
      onClosed: (client, code) => this.#onClosed(client, code),
    }
  }

  start(): void {
    this.#deps.services.start()
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
    const { headers } = request
    const address = this.#deps.addressOf(request)
    const client = new GatewayClient(this.#clientDeps, connection, endpoint, { headers, address })
    this.#counts.countOpened(client.dialectName)
    this.#arriving.add(client)
    identifyByRequest(this.#deps, client, headers, endpoint.token)
      .then((isAllowed) => {
        if (!isAllowed || !connection.isOpen) return client.dialect.onDisconnected()
        if (!client.dialect.isIdentified) this.#guard(socket, client)
        this.#listen(client)
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'accepting a WebSocket connection failed')
        connection.close('unavailable', 'The server failed to accept the connection.')
      })
  }

  #listen(client: GatewayClient): void {
    this.#arriving.delete(client)
    this.#clients.add(client)
    this.#heartbeat.watch(client)
    client.connection.start(client.dialect)
  }

  #onClosed(client: GatewayClient, code: number): void {
    this.#counts.countClosed(client.dialectName, code)
    this.#deps.pages.leave(client)
    this.#arriving.delete(client)
    if (!this.#clients.delete(client)) return
    this.#heartbeat.unwatch(client)
    if (this.#clients.size === 0) this.#onLastClientClosed?.()
    client.connection.inbox.deliverRest(() => client.dialect.onDisconnected())
  }

  #guard(socket: Socket, { connection, dialect }: GatewayClient): void {
    guardIdentification({
      socket,
      client: dialect,
      clock: this.#clock,
      timeoutMs: authTimeoutMs,
      onTimeout: () => {
        const { reason, message } = dialect.authTimeoutReason ?? new Denial('unauthenticated', noTokenMessage)
        dialect.deny(reason, message)
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

  /**
   * Closes all connections, because what their sessions know may be wrong. The clients connect again. What they have sent is
   * stored only if they still have access.
   */
  onSignalsMissed(): void {
    this.#deps.services.documents.onSignalsMissed()
    for (const { connection } of this.#clients)
      connection.close('restarting', 'The server has missed changes. Connect again.')
  }

  /** Asks clients to reconnect, where their protocol can, stores what they sent, and closes all connections. */
  async drain(): Promise<void> {
    const { services, pages } = this.#deps
    this.#isDraining = true
    const reconnectWithinMs = Math.min(maxReconnectDelayMs, msPerClose * this.#clients.size)
    for (const { dialect } of this.#clients) {
      dialect.onDrain(Math.round(Math.random() * reconnectWithinMs))
    }
    await Promise.race([services.idle(), this.#pause(drainMessagesMs)])
    const connections = [...this.#arriving, ...this.#clients].map(({ connection }) => connection)
    for (const connection of connections) connection.inbox.stop()
    await services.scheduler.idle()
    await services.idle()
    await this.#closeAtRandomTimes(connections)
    await Promise.race([this.#lastClientClosed(), this.#pause(drainCloseTimeoutMs)])
    for (const connection of connections) connection.terminate()
    this.#stopSweeping()
    await services.scheduler.idle()
    await services.idle()
    services.close()
    pages.close()
  }

  async #closeAtRandomTimes(connections: readonly Connection[]): Promise<void> {
    const withinMs = Math.min(maxClosingMs, msPerClose * connections.length)
    for (const connection of connections) {
      const close = () => connection.close('restarting', 'The server is shutting down.')
      this.#clock.setTimeout(close, Math.random() * withinMs)
    }
    if (withinMs > 0) await this.#pause(withinMs)
  }

  async #lastClientClosed(): Promise<void> {
    if (this.#clients.size === 0) return
    await new Promise<void>((resolve) => (this.#onLastClientClosed = resolve))
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimeout(resolve, ms))
  }
}

/** Not a closure: it would keep the whole request in memory for as long as the socket is open. */
function destroyThis(this: Duplex): void {
  this.destroy()
}
