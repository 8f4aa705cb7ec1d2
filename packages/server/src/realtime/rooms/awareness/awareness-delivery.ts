import type { AwarenessStates } from './awareness.ts'
import type { Connection } from '../../sockets/connection.ts'

interface Client {
  readonly connection: Connection
  /** Whether nothing may be sent any more. */
  isSilent(): boolean
  sendStates(update: Uint8Array): void
  onError(): void
}

/** Sends the awareness states of an editor to one client, as fast as the client reads them. */
export class AwarenessDelivery {
  readonly #client: Client
  /** Yjs clients whose current states the client has not received. */
  readonly #unsent = new Set<number>()
  #isCatchingUp = false
  /** When all states were last sent. */
  #sentAllAt = -Infinity

  constructor(client: Client) {
    this.#client = client
  }

  get msSinceAll(): number {
    return performance.now() - this.#sentAllAt
  }

  /** False if there are no states. */
  sendAll(awareness: AwarenessStates): boolean {
    this.#sentAllAt = performance.now()
    for (const client of awareness.clients) this.#unsent.add(client)
    const hasStates = this.#unsent.size > 0
    this.catchUp(awareness)
    return hasStates
  }

  /** Whether a change of these states can be sent now. If not, `catchUp` sends the states later. */
  takesChange(clients: readonly number[]): boolean {
    const takes = this.#unsent.size === 0 && !this.#client.connection.isBehind
    if (!takes) for (const client of clients) this.#unsent.add(client)
    return takes
  }

  /** Sends the skipped states, a few in each message. */
  catchUp(awareness: AwarenessStates): void {
    if (this.#isCatchingUp || this.#unsent.size === 0) return
    this.#isCatchingUp = true
    const { turns, owner } = this.#client.connection
    turns.scheduleSteps(owner, this.#steps(awareness), () => this.#client.onError())
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
