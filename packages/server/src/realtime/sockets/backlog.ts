import type { Connection } from './connection.ts'

/** The messages of a client are held back while more bytes than this have no answer. */
const maxUnansweredBytes = 256 * 1024

/**
 * Holds a connection while its unanswered live states and version requests have more bytes than `maxUnansweredBytes`. Updates
 * of editors are not counted here: `editors/update-backpressure.ts` holds the connection while too many bytes wait in a room.
 */
export class Backlog {
  readonly #connection: Connection
  #bytes = 0
  #isHolding = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  add(bytes: number): void {
    this.#set(this.#bytes + bytes)
  }

  settle(bytes: number): void {
    this.#set(this.#bytes - bytes)
  }

  #set(bytes: number): void {
    this.#bytes = bytes
    const mustHold = bytes > maxUnansweredBytes
    if (mustHold === this.#isHolding) return
    this.#isHolding = mustHold
    if (mustHold) this.#connection.hold()
    else this.#connection.release()
  }
}
