import type { Clock } from '../../platform/clock.ts'
import type { EditorRoom } from '../rooms/room.ts'

/** A client is asked for missing updates at most once in this time. */
const minIntervalMs = 1_000
/**
 * How often a request waits for the queue. A user who writes without pause in another tab cannot delay it any longer, but sends
 * some updates twice.
 */
const maxWaits = 10

/** The client that is asked. */
export interface AskedClient {
  readonly clock: Clock
  readonly userId: string
  /** Calls `then` once everything that is queued in the room is durable or refused. */
  afterQueued(room: EditorRoom, then: () => void): void
  /** Sends the client a state vector of the room. */
  sendStateVector(stateVector: Uint8Array): void
}

/** Asks one client for the updates that the server lacks. */
export class MissingUpdates {
  readonly #client: AskedClient
  #requestedAt = -Infinity
  /** Whether a request must follow once `minIntervalMs` is over. */
  #mustRequest = false
  /** Whether a request waits for the queue. */
  #isWaiting = false

  constructor(client: AskedClient) {
    this.#client = client
  }

  /** Whether a request waits for the end of `minIntervalMs`. */
  get isDelayed(): boolean {
    return this.#mustRequest
  }

  /** Requests the missing updates now, or once `minIntervalMs` is over. */
  request(room: EditorRoom): void {
    this.#mustRequest = this.#client.clock.elapsed() - this.#requestedAt < minIntervalMs
    if (!this.#mustRequest) this.requestNow(room)
  }

  /** Sends a request that had to wait for the end of `minIntervalMs`. */
  retry(room: EditorRoom): void {
    if (this.#mustRequest) this.request(room)
  }

  requestNow(room: EditorRoom): void {
    this.onRequestDue()
    this.#mustRequest = false
    if (!this.#isWaiting) this.#sendWhenStored(room, 0)
  }

  /** A call of `requestNow` is about to follow, so no other request is needed. */
  onRequestDue(): void {
    this.#requestedAt = this.#client.clock.elapsed()
  }

  /** The client has sent everything that the server lacked. */
  onAnswered(): void {
    this.#mustRequest = false
  }

  /**
   * Sends the state vector once it contains no update of the user that may still be refused, or without such updates if the user
   * goes on writing. The client may have sent that
   * update on an earlier connection: it would report the update as saved, and not send it again (R32.4).
   */
  #sendWhenStored(room: EditorRoom, waits: number): void {
    const hasUnstored = room.hasUnstoredOf(this.#client.userId)
    this.#isWaiting = hasUnstored && waits < maxWaits
    if (this.#isWaiting) this.#client.afterQueued(room, () => this.#sendWhenStored(room, waits + 1))
    else this.#client.sendStateVector(hasUnstored ? room.committedVector() : room.stateVector())
  }
}
