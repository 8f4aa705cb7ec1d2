import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait behind the one in progress. */
const maxWaitingRequests = 4

/** The error code of the parser after `parserFails`, when too many requests wait. */
export const tooManyWaiting = 'HPE_CB_HEADERS_COMPLETE'

/** The part of Node's parser that emits requests. Any number but 0, 1, 2 and 21 makes the parser fail. */
interface Parser {
  onIncoming?: (request: IncomingMessage, shouldKeepAlive: boolean) => number
}
const parserFails = -1

/**
 * Limits how many requests wait on one connection. Node's parser emits all requests in 64 KiB before anything else runs, up
 * to 3,600 of them: 60 ms even if nothing is done for them. Only an error stops it in between.
 */
export class Pipelining {
  readonly #waiting = new WeakMap<Socket, number>()

  watch(socket: Socket & { parser?: Parser }): void {
    const { parser } = socket
    const pass = parser?.onIncoming
    if (!parser || !pass) return
    parser.onIncoming = (request, shouldKeepAlive) =>
      (this.#waiting.get(socket) ?? 0) < maxWaitingRequests ? pass(request, shouldKeepAlive) : parserFails
  }

  count({ socket }: IncomingMessage, response: ServerResponse): void {
    // A response gets the socket when the responses before it are sent.
    if (response.socket !== null) return
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + 1)
    response.once('socket', () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1))
  }
}
