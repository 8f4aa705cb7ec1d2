import type { AwarenessStates } from './awareness.ts'
import type { Connection } from '../../sockets/connection.ts'

interface Client {
  readonly connection: Connection
  /** Whether nothing may be sent to the client any more. */
  isSilent(): boolean
  sendStates(update: Uint8Array): void
  onError(): void
}

/** Sends the awareness states of an editor to one client, as fast as the client reads them. */
export class AwarenessDelivery {
  readonly #client: Client
  /** Yjs client ids whose current states the client has not received. */
  readonly #unsent = new Set<number>()
  #isCatchingUp = false
  /** When `sendAll` was last called. */
  #sentAllAt = -Infinity

  constructor(client: Client) {
    this.#client = client
  }

  get msSinceSendAll(): number {
    return performance.now() - this.#sentAllAt
  }

  /** Sends all states. Returns false if there are none. */
  sendAll(awareness: AwarenessStates): boolean {
    this.#sentAllAt = performance.now()
    for (const clientId of awareness.clientIds) this.#unsent.add(clientId)
    const hasStates = this.#unsent.size > 0
    this.catchUp(awareness)
    return hasStates
  }

  /** Returns whether a change of these states can be sent now. If not, `catchUp` sends the states later. */
  canSendChange(clientIds: readonly number[]): boolean {
    const canSend = this.#unsent.size === 0 && !this.#client.connection.isBehind
    if (!canSend) for (const clientId of clientIds) this.#unsent.add(clientId)
    return canSend
  }

  /** Sends the skipped states, a few in each message. */
  catchUp(awareness: AwarenessStates): void {
    if (this.#isCatchingUp || this.#unsent.size === 0) return
    this.#isCatchingUp = true
    const { scheduler, owner } = this.#client.connection
    scheduler.scheduleSteps(owner, this.#steps(awareness), () => this.#client.onError())
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
