import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait behind the one in progress. */
const maxWaitingRequests = 4

/** The part of Node's parser that emits requests. */
interface Parser {
  /** The parser fails if this returns any number but 0, 1, 2 and 21. */
  onIncoming?: (request: IncomingMessage, shouldKeepAlive: boolean) => number
}
const makesParserFail = -1

/** The error code of a parser that failed by `makesParserFail`. */
export const tooManyWaiting = 'HPE_CB_HEADERS_COMPLETE'

/**
 * Limits how many requests wait on one connection. Node's parser emits all requests in 64 KiB before anything else runs.
 * That can be 3,600 requests, which take 60 ms even if nothing is done for them. Only an error stops the parser in between.
 */
export class Pipelining {
  readonly #waiting = new WeakMap<Socket, number>()

  /** Makes the parser of a new connection fail while too many of its requests wait. */
  watch(socket: Socket & { parser?: Parser }): void {
    const { parser } = socket
    const pass = parser?.onIncoming
    if (!parser || !pass) return
    parser.onIncoming = (request, shouldKeepAlive) =>
      (this.#waiting.get(socket) ?? 0) < maxWaitingRequests ? pass(request, shouldKeepAlive) : makesParserFail
  }

  /** Counts the request as waiting until the responses before it are sent. */
  count({ socket }: IncomingMessage, response: ServerResponse): void {
    // Node gives a response its socket when the responses before it are sent.
    if (response.socket !== null) return
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + 1)
    response.once('socket', () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1))
  }
}
