import type { AwarenessStates } from './awareness.ts'
import type { Connection } from '../../sockets/connection.ts'
import { StepTaker } from '../../../platform/turns/step-taker.ts'

interface Client {
  readonly connection: Connection
  /** Whether it is to hear no more. */
  isSilent(): boolean
  sendStates(update: Uint8Array): void
  onError(): void
}

/** Sends one client the awareness states of an editor, as fast as the client takes them. */
export class AwarenessDelivery {
  readonly #client: Client
  /** Yjs clients whose states the client was not sent yet. */
  readonly #unsent = new Set<number>()
  #isCatchingUp = false
  /** When it was sent all of them. */
  #sentAllAt = -Infinity

  constructor(client: Client) {
    this.#client = client
  }

  get msSinceAll(): number {
    return performance.now() - this.#sentAllAt
  }

  /** False if there is nothing to send. */
  sendAll(awareness: AwarenessStates): boolean {
    this.#sentAllAt = performance.now()
    for (const client of awareness.clients) this.#unsent.add(client)
    const hasStates = this.#unsent.size > 0
    this.catchUp(awareness)
    return hasStates
  }

  /** Whether the client may be sent a change of the states of these clients; if not, it is sent their states later. */
  takesChange(clients: readonly number[]): boolean {
    const takes = this.#unsent.size === 0 && !this.#client.connection.isBehind
    if (!takes) for (const client of clients) this.#unsent.add(client)
    return takes
  }

  /** Sends the states that were left out, a few in each message. */
  catchUp(awareness: AwarenessStates): void {
    if (this.#isCatchingUp || this.#unsent.size === 0) return
    this.#isCatchingUp = true
    const { turns, owner } = this.#client.connection
    turns.add(new StepTaker(owner, this.#steps(awareness), () => this.#client.onError()))
  }

  *#steps(awareness: AwarenessStates): Generator<undefined> {
    const client = this.#client
    try {
      while (this.#unsent.size > 0 && !client.connection.isBehind && !client.isSilent()) {
        client.sendStates(awareness.takeStates(this.#unsent))
        yield
      }
    } finally {
      this.#isCatchingUp = false
    }
  }
}
