import { createServer, IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import type { ApiError } from '@plenum/protocol'
import { onConnectionAccepted } from '../../platform/turns/loop-time.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import { MalformedRequests } from './malformed-requests.ts'
import { Pipelining } from './pipelining.ts'
import { requestAddress } from './request-address.ts'

export interface Connections {
  /** Creates a Node server. Each address to listen on needs one. */
  create(handler: RequestListener): Server
  /** Answers bytes that are too slow, too large or not HTTP with an error, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void
  /** `localhost` has an IPv4 and an IPv6 address. Listens on the one that `first` is not, if the machine has it. */
  listenAtSecondLoopback(first: AddressInfo): Promise<void>
  /** Tells the client of each answer in progress that the connection closes after it. */
  closeAfterAnswers(): void
  /** Stops listening on the second address of `localhost`. Resolves when the answers in progress there are sent. */
  closeSecond(): Promise<void>
}

interface ConnectionDeps {
  requestTimeoutSeconds: number
  newRequestId: () => string
  trustedProxyHops: number
  /** Called with every Node server, to add the listener for WebSocket upgrades. */
  attach: (server: Server) => void
  /** The body of an answer that reports the error at this URL. The URL may be unknown. */
  errorBody: (error: ApiError, url: string | undefined) => object
}

/**
 * A connection on which nothing happens for this long while a request is in progress is closed. Longer than a request may take
 * (`platform/turns/time-limit.ts`), so that each has its answer before.
 */
const idleTimeoutMs = 75_000

/** What is below requests: sockets, their timeouts, and bytes that never become a request. */
export function createConnections(deps: ConnectionDeps): Connections {
  const { requestTimeoutSeconds, newRequestId, trustedProxyHops, attach, errorBody } = deps
  const requestTimeout = requestTimeoutSeconds * 1000
  const open = new Set<Socket>()
  /** One function for all sockets: a WebSocket keeps its listeners for hours. */
  function forgetThis(this: Socket): void {
    open.delete(this)
  }
  const malformed = new MalformedRequests({ newRequestId, errorBody })
  const pipelining = new Pipelining()
  /**
   * Requests start as they arrive while the event loop is free. When it is late, they wait before anything is done for them,
   * and start in turns by client address. Thousands can arrive at once, and even to refuse one takes 0.1 ms.
   */
  const arrivals = new StartQueue({ startsUntilLate: true })
  let handle: RequestListener | undefined
  let second: Server | undefined

  const create = (handler: RequestListener): Server => {
    handle = handler
    const start: RequestListener = (request, response) => {
      malformed.onRequest(request.socket, response)
      pipelining.count(request, response)
      const startInTurn = () => {
        if (arrivals.canStart) return handler(request, response)
        arrivals.add(requestAddress(request, trustedProxyHops), () => {
          if (!request.socket.destroyed) handler(request, response)
        })
      }
      // Pipelined requests take effect in their order: Node gives a response its socket when the ones before it are sent.
      if (response.socket !== null) return startInTurn()
      response.once('socket', (socket: Socket) => {
        // The response before it may have set another one.
        socket.setTimeout(idleTimeoutMs)
        startInTurn()
      })
    }
    const server = createServer(
      {
        requestTimeout,
        headersTimeout: Math.min(10_000, requestTimeout),
        connectionsCheckingInterval: Math.min(2_000, requestTimeout / 4),
        // Longer than proxies keep idle connections. Otherwise a proxy could send on a connection that is just being closed.
        keepAliveTimeout: 72_000,
        maxHeaderSize: 16_384,
        // `app.ts` checks `Host`: Node's own error does not have the form of the interface.
        requireHostHeader: false,
        IncomingMessage: Request,
      },
      start,
    )
    server.setTimeout(idleTimeoutMs)
    server.on('connection', (socket) => {
      onConnectionAccepted()
      open.add(socket)
      pipelining.watch(socket)
      socket.on('close', forgetThis)
    })
    // A server may ignore every header `Expect` but `100-continue`. Node's own error does not have the form of the interface.
    server.on('checkExpectation', start)
    attach(server)
    return server
  }

  const refuse: Connections['refuse'] = (error, socket) => malformed.refuse(error, socket)

  return {
    create,
    refuse,
    async listenAtSecondLoopback({ address, port }) {
      if (!handle) return
      const server = create(handle)
      server.on('clientError', (error, socket) => refuse(error, socket as Socket))
      try {
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(port, isIPv6(address) ? '127.0.0.1' : '::1', resolve)
        })
        second = server
      } catch (error) {
        if (!absentAddressCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    },
    closeAfterAnswers() {
      for (const socket of open) {
        const response = malformed.newestResponse(socket)
        if (response && !response.headersSent) response.setHeader('connection', 'close')
      }
    },
    async closeSecond() {
      if (second) await new Promise((resolve) => second?.close(resolve))
    },
  }
}

/**
 * Once there is a listener for upgrades, Node treats every request with the header `Upgrade` as one. Most are not: some
 * clients offer HTTP/2 that way. Only a WebSocket handshake is an upgrade here; other requests are answered as usual.
 */
class Request extends IncomingMessage {
  /** Set by the parser. Not private: Node's constructor sets it before private fields exist. */
  declare offersUpgrade: boolean

  get upgrade(): boolean {
    return this.offersUpgrade && this.method === 'GET' && this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  set upgrade(value: boolean) {
    this.offersUpgrade = value
  }
}

/** Error codes that mean: the machine does not have this address. */
const absentAddressCodes = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])
