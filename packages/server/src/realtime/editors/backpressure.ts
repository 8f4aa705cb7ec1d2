import type { EditorRoom } from '../rooms/room.ts'
import type { Connection } from '../sockets/connection.ts'

/** An update that is not settled yet. While it is `held`, the connection of its client is on hold for it. */
export interface Wait {
  state: 'waiting' | 'held' | 'settled'
}

/** Bytes that may wait in a room before the connections of its senders are put on hold. */
const maxQueuedBytes = 256 * 1024

/** Stops reading a client while its updates wait in a room that has much to store. */
export class Backpressure {
  readonly #connection: Pick<Connection, 'hold' | 'release'>
  /** How many updates hold the connection. */
  #holds = 0

  constructor(connection: Pick<Connection, 'hold' | 'release'>) {
    this.#connection = connection
  }

  /** Called after the update was given to the room. Does nothing if it is settled already or little waits. */
  holdIfFull(wait: Wait, room: EditorRoom): void {
    if (wait.state === 'settled' || room.queuedBytes <= maxQueuedBytes) return
    wait.state = 'held'
    this.#holds++
    this.#connection.hold()
  }

  settle(wait: Wait): void {
    const isHeld = wait.state === 'held'
    wait.state = 'settled'
    if (isHeld) this.#release()
  }

  /** For a session that leaves: its updates may never be settled. */
  releaseAll(): void {
    while (this.#holds > 0) this.#release()
  }

  #release(): void {
    if (this.#holds === 0) return
    this.#holds--
    this.#connection.release()
  }
}
