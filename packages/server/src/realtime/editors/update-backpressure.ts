import type { EditorRoom } from '../rooms/room.ts'
import type { Connection } from '../sockets/connection.ts'

/** An update that a session has given to a room. While its state is `holding`, it holds the connection of its client. */
export interface SubmittedUpdate {
  state: 'waiting' | 'holding' | 'settled'
}

/** Bytes that may wait in a room before the connections of its senders are put on hold. */
const maxQueuedBytes = 256 * 1024

/**
 * Holds a connection while updates of its client wait in a room that has many bytes to store. `sockets/backlog.ts` holds it
 * for other requests, by the bytes that this client has sent without an answer.
 */
export class UpdateBackpressure {
  readonly #connection: Pick<Connection, 'hold' | 'release'>
  /** How many updates hold the connection. */
  #holdCount = 0

  constructor(connection: Pick<Connection, 'hold' | 'release'>) {
    this.#connection = connection
  }

  /** Call it after the update was given to the room. Does nothing if the update is settled, or if few bytes wait there. */
  holdIfFull(update: SubmittedUpdate, room: EditorRoom): void {
    if (update.state === 'settled' || room.queuedBytes <= maxQueuedBytes) return
    update.state = 'holding'
    this.#holdCount++
    this.#connection.hold()
  }

  /** Call it when the update is saved or refused. */
  settle(update: SubmittedUpdate): void {
    const wasHolding = update.state === 'holding'
    update.state = 'settled'
    if (wasHolding) this.#release()
  }

  /** Call it when the session leaves: its updates may never be settled. */
  releaseAll(): void {
    while (this.#holdCount > 0) this.#release()
  }

  #release(): void {
    if (this.#holdCount === 0) return
    this.#holdCount--
    this.#connection.release()
  }
}
