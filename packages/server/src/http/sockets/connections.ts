import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import { connectionAccepted } from '../../platform/turns/loop-time.ts'
import { LoopTurns } from '../../platform/turns/loop-turns.ts'
import { carriesErrorCode } from '../error-code.ts'
import { Pipelining, tooManyWaiting } from './pipelining.ts'
import { requestAddress } from './request-address.ts'

export interface Connections {
  /** A server of Node; each address needs one. */
  create(handler: RequestListener): Server
  /** Answers what is too slow, too large or no HTTP in the envelope as well, and ends the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void
  /** Listens at the other address of `localhost`, where the machine has it. */
  listenAtSecondLoopback(first: AddressInfo): Promise<void>
  /** Lets the answers that are under way be the last ones of their connections. */
  endAfterAnswers(): void
  /** Stops listening there, and waits for the answers. */
  closeSecond(): Promise<void>
}

interface Options {
  requestTimeoutSeconds: number
  newRequestId: () => string
  trustedProxyHops: number
  /** Gets every server, for what is no request. */
  attach: (server: Server) => void
}

/** What lies below requests: sockets, their timeouts, and bytes that never become a request. */
export function createConnections(options: Options): Connections {
  const { requestTimeoutSeconds, newRequestId, trustedProxyHops, attach } = options
  const requestTimeout = requestTimeoutSeconds * 1000
  const open = new Set<Socket>()
  const newest = new WeakMap<Socket, ServerResponse>()
  /** Connections with a fault that is answered when the requests before it are. */
  const faulty = new WeakSet<Socket>()
  const pipelining = new Pipelining()
  /**
   * Requests start as they arrive while the event loop has time. Then they wait before anything is done for them, address by
   * address in turn: a refusal takes 0.1 ms, and thousands can arrive together.
   */
  const arrivals = new LoopTurns({ startsUntilLate: true })
  let handle: RequestListener | undefined
  let second: Server | undefined

  const create = (handler: RequestListener): Server => {
    handle = handler
    const start: RequestListener = (request, response) => {
      newest.set(request.socket, response)
      pipelining.count(request, response)
      if (arrivals.isFree) return handler(request, response)
      arrivals.add(requestAddress(request, trustedProxyHops), () => {
        if (!request.socket.destroyed) handler(request, response)
      })
    }
    const server = createServer(
      {
        requestTimeout,
        headersTimeout: Math.min(10_000, requestTimeout),
        connectionsCheckingInterval: Math.min(2_000, requestTimeout / 4),
        // Longer than proxies keep theirs, so that a proxy does not send into a connection that just ended.
        keepAliveTimeout: 72_000,
        maxHeaderSize: 16_384,
        // Node's own refusal would have no envelope.
        requireHostHeader: false,
        IncomingMessage: Request,
      },
      start,
    )
    server.setTimeout(60_000)
    server.on('connection', (socket) => {
      connectionAccepted()
      open.add(socket)
      pipelining.watch(socket)
      socket.once('close', () => open.delete(socket))
    })
    // Expectations other than `100-continue` may be ignored; Node's refusal would have no envelope either.
    server.on('checkExpectation', start)
    attach(server)
    return server
  }

  const write = (error: NodeJS.ErrnoException, socket: Socket, url?: string) => {
    if (!socket.writable) return socket.destroy()
    const [line, message, status = 'INVALID_ARGUMENT'] = lineFor[error.code ?? ''] ?? [
      '400 Bad Request',
      'Malformed request.',
    ]
    const failure = new ApiError(status, message)
    const body = JSON.stringify(failure.toBody({ withCode: carriesErrorCode(url) }))
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
      // The fault is in the body of this request, which may have its answer already.
      if (before.headersSent) socket.destroy()
      else write(error, socket, before.req.url)
    } else if (before.writableFinished) write(error, socket)
    // The fault is in what follows a whole request, whose answer comes first.
    else if (!faulty.has(socket)) {
      faulty.add(socket)
      // All that follows would be a fault, too.
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
        if (!absent.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    },
    endAfterAnswers() {
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
 * Node takes every request with the header `Upgrade` for one that leaves HTTP, as soon as anybody listens for such. Most
 * do not: some clients offer HTTP/2 that way. Only the handshake of a WebSocket leaves; the others are answered.
 */
class Request extends IncomingMessage {
  /** What the parser says. Not private: the constructor of Node sets it before there are private fields. */
  declare offersUpgrade: boolean

  get upgrade(): boolean {
    return this.offersUpgrade && this.method === 'GET' && this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  set upgrade(value: boolean) {
    this.offersUpgrade = value
  }
}

const lineFor: Record<string, [line: string, message: string, status?: ErrorStatus]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  [tooManyWaiting]: [
    '429 Too Many Requests',
    'Too many requests wait on this connection. Read the answers before you send more.',
    'RESOURCE_EXHAUSTED',
  ],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request headers are too large.'],
}

/** The machine has no such address. */
const absent = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])
