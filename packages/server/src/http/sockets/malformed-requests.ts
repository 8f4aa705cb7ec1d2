import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import { answerHeaders } from '../answer-headers.ts'
import { tooManyWaiting } from './pipelining.ts'

interface MalformedRequestDeps {
  newRequestId: () => string
  /** The body of an answer that reports the error at this URL. The URL may be unknown. */
  errorBody: (error: ApiError, url: string | undefined) => object
}

/** Answers bytes that never become a request: too slow, too large, too many or not HTTP. */
export class MalformedRequests {
  readonly #deps: MalformedRequestDeps
  readonly #newestResponses = new WeakMap<Socket, ServerResponse>()
  /** Connections with a malformed request, whose error is sent after the answers to the requests before it. */
  readonly #faulty = new WeakSet<Socket>()

  constructor(deps: MalformedRequestDeps) {
    this.#deps = deps
  }

  /** Call it for each request that the parser of the connection emits. */
  onRequest(socket: Socket, response: ServerResponse): void {
    this.#newestResponses.set(socket, response)
    response.once('close', () => this.#onAnswered(socket, response))
  }

  /** An idle connection must not keep its last answer in memory. */
  #onAnswered(socket: Socket, response: ServerResponse): void {
    const isNewest = this.#newestResponses.get(socket) === response
    if (isNewest && response.req.complete) this.#newestResponses.delete(socket)
  }

  /** The response to the last request of the connection, unless it is answered. */
  newestResponse(socket: Socket): ServerResponse | undefined {
    return this.#newestResponses.get(socket)
  }

  /** Answers the error in the form of the interface, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const before = this.#newestResponses.get(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    // Nothing is in progress.
    else if (before === undefined) this.#answer(error, socket)
    else if (!before.req.complete) {
      // The error is in the body of this request, which may already be answered.
      if (before.headersSent) socket.destroy()
      else this.#answer(error, socket, before.req.url)
    } else if (before.writableFinished) this.#answer(error, socket)
    // The error follows a complete request, whose answer is sent first.
    else if (!this.#faulty.has(socket)) {
      this.#faulty.add(socket)
      // The parser has failed, so further bytes would only be further errors.
      socket.pause()
      before.once('close', () => {
        socket.resume()
        this.#answer(error, socket)
      })
    }
  }

  #answer(error: NodeJS.ErrnoException, socket: Socket, url?: string): void {
    if (!socket.writable) return void socket.destroy()
    const [line, message, status = 'INVALID_ARGUMENT'] = statusLines[error.code ?? ''] ?? [
      '400 Bad Request',
      'Malformed request.',
    ]
    const body = JSON.stringify(this.#deps.errorBody(new ApiError(status, message), url))
    const headers = [
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${this.#deps.newRequestId()}`,
      ...Object.entries(answerHeaders).map((header) => header.join(': ')),
      'connection: close',
    ]
    socket.end(`HTTP/1.1 ${line}\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  }
}

/** The answers, by the error code of Node's parser. */
const statusLines: Record<string, [line: string, message: string, status?: ErrorStatus]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  [tooManyWaiting]: [
    '429 Too Many Requests',
    'Too many requests wait on this connection. Read the answers before you send more.',
    'RESOURCE_EXHAUSTED',
  ],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request headers are too large.'],
}
