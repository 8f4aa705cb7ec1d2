import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import { onConnectionAccepted } from '../../platform/turns/loop-time.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import { Pipelining, tooManyWaiting } from './pipelining.ts'
import { requestAddress } from './request-address.ts'

export interface Connections {
  /** Creates a Node server; each address needs one. */
  create(handler: RequestListener): Server
  /** Answers what is too slow, too large or not HTTP with the envelope, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void
  /** Listens on the other address of `localhost`, if the machine has it. */
  listenAtSecondLoopback(first: AddressInfo): Promise<void>
  /** Closes each connection after the answer in progress. */
  closeAfterAnswers(): void
  /** Stops listening on the other address, and waits for the answers in progress. */
  closeSecond(): Promise<void>
}

interface ConnectionDeps {
  requestTimeoutSeconds: number
  newRequestId: () => string
  trustedProxyHops: number
  /** Gets every server, for WebSocket upgrades. */
  attach: (server: Server) => void
  /** The envelope of an error at this URL. Undefined: the URL is unknown. */
  errorBody: (error: ApiError, url: string | undefined) => object
}

/** The level below requests: sockets, their timeouts, and bytes that never become a request. */
export function createConnections(deps: ConnectionDeps): Connections {
  const { requestTimeoutSeconds, newRequestId, trustedProxyHops, attach, errorBody } = deps
  const requestTimeout = requestTimeoutSeconds * 1000
  const open = new Set<Socket>()
  const newest = new WeakMap<Socket, ServerResponse>()
  /** Connections with a malformed request, whose error is sent after the answers to the requests before it. */
  const faulty = new WeakSet<Socket>()
  const pipelining = new Pipelining()
  /**
   * Requests start as they arrive while the event loop is free. When it is late, they wait before anything is done for them,
   * and start in turns by address: a refusal takes 0.1 ms, and thousands can arrive at once.
   */
  const arrivals = new StartQueue({ startsUntilLate: true })
  let handle: RequestListener | undefined
  let second: Server | undefined

  const create = (handler: RequestListener): Server => {
    handle = handler
    const start: RequestListener = (request, response) => {
      newest.set(request.socket, response)
      pipelining.count(request, response)
      if (arrivals.canStart) return handler(request, response)
      arrivals.add(requestAddress(request, trustedProxyHops), () => {
        if (!request.socket.destroyed) handler(request, response)
      })
    }
    const server = createServer(
      {
        requestTimeout,
        headersTimeout: Math.min(10_000, requestTimeout),
        connectionsCheckingInterval: Math.min(2_000, requestTimeout / 4),
        // Longer than proxies keep idle connections, so that a proxy does not send on a connection that just closed.
        keepAliveTimeout: 72_000,
        maxHeaderSize: 16_384,
        // Node's own error would have no envelope.
        requireHostHeader: false,
        IncomingMessage: Request,
      },
      start,
    )
    server.setTimeout(60_000)
    server.on('connection', (socket) => {
      onConnectionAccepted()
      open.add(socket)
      pipelining.watch(socket)
      socket.once('close', () => open.delete(socket))
    })
    // Expectations other than `100-continue` may be ignored. Node's own error would have no envelope.
    server.on('checkExpectation', start)
    attach(server)
    return server
  }

  const write = (error: NodeJS.ErrnoException, socket: Socket, url?: string) => {
    if (!socket.writable) return socket.destroy()
    const [line, message, status = 'INVALID_ARGUMENT'] = statusLines[error.code ?? ''] ?? [
      '400 Bad Request',
      'Malformed request.',
    ]
    const failure = new ApiError(status, message)
    const body = JSON.stringify(errorBody(failure, url))
    const headers = [
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${newRequestId()}`,
      'connection: close',
    ]
    socket.end(`HTTP/1.1 ${line}\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  }

  const refuse: Connections['refuse'] = (error, socket) => {
    const before = newest.get(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    else if (before === undefined) write(error, socket)
    else if (!before.req.complete) {
      // The error is in the body of this request, which may already be answered.
      if (before.headersSent) socket.destroy()
      else write(error, socket, before.req.url)
    } else if (before.writableFinished) write(error, socket)
    // The error follows a complete request, whose answer is sent first.
    else if (!faulty.has(socket)) {
      faulty.add(socket)
      // Everything after it would be an error too.
      socket.pause()
      before.once('close', () => {
        socket.resume()
        write(error, socket)
      })
    }
  }

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
        const response = newest.get(socket)
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

const statusLines: Record<string, [line: string, message: string, status?: ErrorStatus]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  [tooManyWaiting]: [
    '429 Too Many Requests',
    'Too many requests wait on this connection. Read the answers before you send more.',
    'RESOURCE_EXHAUSTED',
  ],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request headers are too large.'],
}

/** Error codes that mean: the machine does not have this address. */
const absentAddressCodes = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])
