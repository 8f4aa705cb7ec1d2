import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait behind the one that is being answered. */
const maxWaiting = 4

/** `code` of the error with which the parser refuses a request because too many wait. */
export const tooManyWaiting = 'HPE_CB_HEADERS_COMPLETE'

/** The part of Node's parser that passes requests on. Any number but 0, 1, 2 and 21 makes the parser fail. */
interface Parser {
  onIncoming?: (request: IncomingMessage, shouldKeepAlive: boolean) => number
}
const parserFails = -1

/**
 * Bounds how many requests wait on one connection. Node's parser passes on all requests of 64 KiB before anything else
 * runs, up to 3,600 of them: 60 ms without doing anything for them. Nothing but a failure stops it in between.
 */
export class Pipelining {
  readonly #waiting = new WeakMap<Socket, number>()

  watch(socket: Socket & { parser?: Parser }): void {
    const { parser } = socket
    const pass = parser?.onIncoming
    if (!parser || !pass) return
    parser.onIncoming = (request, shouldKeepAlive) =>
      (this.#waiting.get(socket) ?? 0) < maxWaiting ? pass(request, shouldKeepAlive) : parserFails
  }

  count({ socket }: IncomingMessage, response: ServerResponse): void {
    // The answer gets the socket when those before it are sent.
    if (response.socket !== null) return
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + 1)
    response.once('socket', () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1))
  }
}
