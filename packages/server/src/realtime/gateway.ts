import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '@plenum/protocol'
import { type CloseReason, limits } from '@plenum/protocol/realtime'
import { WebSocketServer } from 'ws'
import { newId } from '../access/ids.ts'
import { claimedApiKey, type VerifiedUser } from '../access/tokens/token-claims.ts'
import type { Log } from '../platform/log/log.ts'
import type { LiveNumbers } from '../platform/metrics/live-metrics.ts'
import type { UnsentAnswers } from '../platform/turns/unsent-answers.ts'
import type { Clock } from '../platform/clock.ts'
import type { Place } from '../store/editors/editors.ts'
import { ClientSocket, tooLargeReason } from './sockets/client-socket.ts'
import { Connection } from './sockets/connection.ts'
import { ConnectionCounts } from './sockets/connection-counts.ts'
import { HocuspocusClient } from './dialects/hocuspocus/hocuspocus.ts'
import { JsonClient } from './dialects/json/json.ts'
import { createYSweetClient } from './dialects/y-sweet.ts'
import { YjsClient } from './dialects/yjs.ts'
import type { Hub } from './editors/services.ts'
import {
  backendOf,
  Denial,
  didNotSay,
  identifyBackend,
  identityOf,
  type Identity,
  type IdentityParts,
  identifyUser,
  originDenied,
} from './authorization/identify.ts'
import type { OpenPage } from './authorization/open-pages.ts'
import { placeIn } from './documents/place.ts'
import { fingerprintOf, RepeatedRefusals } from './sockets/repeated-refusals.ts'
import { storeUpdate } from './editors/request-update.ts'

/** A client as its dialect sees it. Whatever it throws ends this one connection. */
export interface DialectClient {
  /** Whether the address must say who the client is, because its messages never do. */
  readonly needsToken: boolean
  /** Whether it is known who speaks. */
  readonly isIdentified: boolean
  /** Whether that is being found out; the connection is on hold. */
  readonly isChecking?: boolean
  /** Why a client is closed that is not known in time; `unauthenticated` unless given. */
  readonly silence?: Denial
  /** Why a client is closed that sends a larger message than any may be; with the code of `ws` unless given. */
  readonly excess?: CloseReason
  /** The address or the headers said who it is. */
  enter(identity: Identity): void
  /** False if it is no message of the protocol. */
  receive(data: Buffer, isBinary: boolean): boolean
  /** Says something of no meaning, for clients that take silence for a dead connection. */
  keepAlive(): void
  /** Tells the client why it is not let in, or not any more, and closes. */
  deny(reason: CloseReason, message: string): void
  /** Asks the client to come back after a moment. */
  move(retryAfterMs: number): void
  closed(): void
}

/** What a dialect is given. */
export interface Arrival {
  connection: Connection
  hub: Hub
  log: Log
  /** Throws a `Denial`. */
  identify: (token: string) => Promise<Identity>
  /** Closes the connection; later and later, if the same client is refused again and again. */
  refuse: (reason: CloseReason, message: string) => void
}

export interface GatewayDeps extends IdentityParts {
  hub: Hub
  log: Log
  maxConnections: number
  /** The address of the client, as rate limits count it. */
  addressOf: (request: IncomingMessage) => string
  /** Ends clients so long after they connected without saying who they are. */
  identifyMs?: number
  unsentAnswers: UnsentAnswers
  clock?: Clock | undefined
}

/** Judgements that time has ended are noticed by it: a second is promised. */
const sweepMs = 500
const pingSweeps = 20
const keepAliveSweeps = 40
/** A connection on which nothing was heard for so many sweeps is dead: its user is gone within 35 s. */
const silentSweeps = 50
/** Clients that are sent away come back at random within this, not all at once. */
const spreadMs = 5_000
/** How long clients may go on sending when the server shuts down. */
const finishMs = 1_000

interface Held {
  connection: Connection
  client: DialectClient
  sweeps: number
  heardAt: number
}

/** Everything that comes in over WebSockets: who it is, in which dialect it speaks, whether it is still there. */
export class Gateway {
  readonly #parts: GatewayDeps
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // One message of a socket in each iteration of the event loop: to take apart what twenty sockets sent takes 60 ms.
    allowSynchronousEvents: false,
    maxPayload: limits.messageBytes,
    WebSocket: ClientSocket,
  })
  /** Those of whom the address or the headers say who they are, until that is checked; the refused ones until they are closed. */
  readonly #arriving = new Set<Connection>()
  readonly #held = new Set<Held>()
  readonly #counts = new ConnectionCounts(dialectNames)
  readonly #refusals: RepeatedRefusals
  #sweeping: NodeJS.Timeout | undefined
  #draining = false

  constructor(parts: GatewayDeps) {
    this.#parts = parts
    this.#refusals = new RepeatedRefusals(parts)
  }

  start(): void {
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs)
    this.#sweeping.unref()
  }

  get numbers(): LiveNumbers {
    const { connections, closes } = this.#counts
    return { connections, closes, ...this.#parts.hub.numbers }
  }

  get #connections(): number {
    return this.#arriving.size + this.#held.size
  }

  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const endpoint = endpointOf(request.url ?? '')
    if (endpoint === undefined)
      return refuse(socket, new ApiError('NOT_FOUND', 'There is nothing at this path.'))
    if (this.#draining) return refuse(socket, new ApiError('UNAVAILABLE', 'The server is shutting down.'))
    if (this.#connections >= this.#parts.maxConnections) {
      return refuse(socket, new ApiError('UNAVAILABLE', 'The server has as many connections as it may have.'))
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      this.#accept(ws, socket as Socket, request, endpoint)
    })
  }

  #accept(ws: ClientSocket, socket: Socket, request: IncomingMessage, endpoint: Endpoint): void {
    socket.setNoDelay(true)
    const connection = new Connection(
      newId('conn'),
      ws,
      socket,
      this.#parts.hub.turns,
      this.#parts.unsentAnswers,
    )
    const identify = (token: string) => this.#identify(connection, token, page)
    const { dialect, name, token } = endpoint
    const address = this.#parts.addressOf(request)
    const refuse: Arrival['refuse'] = (reason, message) => {
      this.#refusals.refuse(fingerprintOf(address, name, token ?? ''), connection, reason, message)
    }
    const { hub, log } = this.#parts
    const client = dialects[dialect]({ connection, hub, log, identify, refuse }, name)
    const page: OpenPage = {
      origin: request.headers.origin,
      host: request.headers.host,
      get isOpen() {
        return connection.isOpen
      },
      close: () => client.deny('permissionDenied', originDenied),
    }
    this.#counts.opened(dialect)
    ws.on('close', (code) => {
      this.#counts.closed(dialect, ws.sentCode ?? code)
      this.#parts.pages.leave(page)
      this.#arriving.delete(connection)
    })
    this.#arriving.add(connection)
    this.#identifyByAddress(connection, request.headers, page, token, client)
      .then((isLetIn) => {
        if (isLetIn && connection.isOpen) this.#listen(ws, socket, connection, client)
        else client.closed()
      })
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'a client could not be let in')
        connection.close('unavailable', 'The server could not let the client in.')
      })
  }

  async #identify(connection: Connection, token: string, page: OpenPage): Promise<Identity> {
    try {
      const identify = () => identifyUser(this.#parts, token, page)
      const identity = await this.#parts.hub.gate.pass(claimedApiKey(token), identify, connection.id)
      connection.owner = identity
      return identity
    } catch (error) {
      if (error instanceof Denial) throw error
      this.#parts.log.error({ err: error }, 'a token could not be checked')
      throw new Denial('unavailable', 'The token could not be checked.')
    }
  }

  /** By the headers or the address; many clients say who they are only later. False if the client was turned away. */
  async #identifyByAddress(
    connection: Connection,
    headers: IncomingHttpHeaders,
    page: OpenPage,
    token: string | null,
    client: DialectClient,
  ): Promise<boolean> {
    try {
      const backend = await identifyBackend(this.#parts, headers, page)
      if (backend) {
        connection.owner = backend
        client.enter(backend)
        return true
      }
      if (token !== null) client.enter(await this.#identify(connection, token, page))
      else if (client.needsToken)
        throw new Denial('unauthenticated', 'token_missing: The address has no token.')
      return true
    } catch (error) {
      if (!(error instanceof Denial)) throw error
      client.deny(error.reason, error.message)
      return false
    }
  }

  #listen(ws: ClientSocket, socket: Socket, connection: Connection, client: DialectClient): void {
    const held: Held = { connection, client, sweeps: 0, heardAt: 0 }
    this.#arriving.delete(connection)
    this.#held.add(held)
    const { excess } = client
    if (excess) ws.onTooLarge = () => client.deny(excess, tooLargeReason)
    const guard = client.isIdentified ? undefined : this.#guard(socket, connection, client)
    const hear = () => {
      held.heardAt = held.sweeps
    }
    ws.on('ping', hear).on('pong', hear)
    connection.inbox.start((data, isBinary) => receive(connection, client, data, isBinary), hear)
    ws.on('close', () => {
      guard?.()
      this.#held.delete(held)
      connection.inbox.finish(() => client.closed())
    })
  }

  /** Until a client is known it may send little, and not for long. */
  #guard(socket: Socket, connection: Connection, client: DialectClient): () => void {
    let bytes = 0
    const count = (chunk: Buffer) => {
      if (client.isIdentified) return stop()
      // Clients that greet for many editors at once do not wait for an answer to the first.
      if (client.isChecking) return
      bytes += chunk.length
      if (bytes > limits.firstMessageBytes + 1024) {
        connection.close('badMessage', 'The first message must say who the client is, in few bytes.')
        stop()
      }
    }
    const timer = setTimeout(() => {
      // It has said so, and the database takes its time.
      if (client.isChecking) return timer.refresh()
      if (!client.isIdentified) {
        const { reason, message } = client.silence ?? new Denial('unauthenticated', didNotSay)
        client.deny(reason, message)
      }
      return stop()
    }, this.#parts.identifyMs ?? 5_000)
    const stop = () => {
      clearTimeout(timer)
      socket.off('data', count)
    }
    socket.on('data', count)
    return stop
  }

  #sweep(): void {
    const now = performance.now()
    for (const held of this.#held) {
      const { connection, client } = held
      held.sweeps++
      // Whoever is busy with a large document hears our pings only when it has all of it.
      if (connection.checkProgress(now) || connection.inbox.isPaused) held.heardAt = held.sweeps
      if (held.sweeps - held.heardAt > silentSweeps) connection.terminate()
      else {
        if (held.sweeps % pingSweeps === 0) connection.ping()
        if (held.sweeps % keepAliveSweeps === 0) client.keepAlive()
      }
    }
    this.#parts.unsentAnswers.cutExcess()
    void this.#parts.hub.sweep()
  }

  /** Resolves when no client's write under that key is being committed; undefined if none is. */
  commitsUnderWay(apiKey: string): Promise<unknown> | undefined {
    return this.#parts.hub.commitsUnderWay(apiKey)
  }

  /** Stores the update of a request as if a client had sent it. Resolves when it is durable; throws an `ApiError`. */
  storeUpdate(apiKey: string, user: VerifiedUser | 'server', place: Place, update: Uint8Array) {
    const identity = user === 'server' ? backendOf(apiKey) : identityOf(user)
    return storeUpdate(this.#parts.hub, identity, place, update)
  }

  /** Tells everyone to come back, stores what they sent, and closes. */
  async drain(): Promise<void> {
    this.#draining = true
    for (const { client } of this.#held) client.move(Math.round(Math.random() * spreadMs))
    await Promise.race([this.#parts.hub.idle(), pause(finishMs)])
    const closing = [...this.#arriving, ...Array.from(this.#held, ({ connection }) => connection)]
    for (const connection of closing) connection.inbox.stop()
    await this.#parts.hub.turns.idle()
    await this.#parts.hub.idle()
    for (const connection of closing) connection.close('restarting', 'The server is shutting down.')
    for (let waits = 0; this.#held.size > 0 && waits < 20; waits++) await pause(100)
    for (const connection of closing) connection.terminate()
    clearInterval(this.#sweeping)
    await this.#parts.hub.turns.idle()
    await this.#parts.hub.idle()
    this.#parts.hub.close()
    this.#parts.pages.close()
  }
}

function receive(connection: Connection, client: DialectClient, data: Buffer, isBinary: boolean): void {
  if (!connection.takesMessages) return
  try {
    if (!client.receive(data, isBinary)) client.deny('badMessage', 'This is no message of the protocol.')
  } catch {
    client.deny('badMessage', 'The message is malformed.')
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** `name` is what follows the path of the dialect, as it was sent. */
type CreateClient = (arrival: Arrival, name: string) => DialectClient

interface Endpoint {
  dialect: Dialect
  name: string
  token: string | null
}

const dialects = {
  yjs: (arrival, name) => new YjsClient(arrival, placeIn(name)),
  'y-sweet': createYSweetClient,
  hocuspocus: (arrival) => new HocuspocusClient(arrival),
  realtime: (arrival) => new JsonClient(arrival),
} satisfies Record<string, CreateClient>

type Dialect = keyof typeof dialects
const dialectNames = Object.keys(dialects) as Dialect[]

/** The path is read as it was sent: a `URL` resolves dots in it, also those that are percent-encoded. */
function endpointOf(address: string): Endpoint | undefined {
  if (!URL.canParse(address, 'http://host')) return undefined
  const [, path = ''] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(address) ?? []
  const [, endpoint = '', ...rest] = path.split('/')
  const dialect = dialectNames.find((name) => name === endpoint)
  // The rest is the name of an editor; what is wrong with it, only an open socket can say.
  const hasName = endpoint === 'yjs' || endpoint === 'y-sweet'
  const fits = hasName || rest.every((part) => part === '')
  const token = new URL(address, 'http://host').searchParams.get('token')
  return dialect && fits ? { dialect, name: rest.join('/'), token } : undefined
}

/** Before the handshake the answer is HTTP, in the envelope. */
function refuse(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.toBody())
  socket.end(
    [
      `HTTP/1.1 ${error.httpStatus} ${error.httpStatus === 404 ? 'Not Found' : 'Service Unavailable'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
