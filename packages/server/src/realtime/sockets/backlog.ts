import type { Connection } from './connection.ts'

/** Bytes that a client may have sent and not been answered before no more is read of it. */
const mostBytes = 256 * 1024

export class Backlog {
  readonly #connection: Connection
  #bytes = 0
  #isHeld = false

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
    const isHeld = bytes > mostBytes
    if (isHeld === this.#isHeld) return
    this.#isHeld = isHeld
    if (isHeld) this.#connection.hold()
    else this.#connection.release()
  }
}
