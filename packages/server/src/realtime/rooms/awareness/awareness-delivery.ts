import type { AwarenessStates } from './awareness.ts'
import type { Connection } from '../../sockets/connection.ts'

/** The client that receives the states. */
export interface AwarenessReceiver {
  readonly connection: Connection
  /** Whether nothing may be sent to the client any more. */
  readonly isSilent: boolean
  sendStates(update: Uint8Array): void
  /** Called when the states could not be sent. */
  onDeliveryFailed(): void
}

/** Sends the awareness states of an editor to one client, as fast as the client reads them. */
export class AwarenessDelivery {
  readonly #client: AwarenessReceiver
  /** Yjs client ids whose current states the client has not received. Undefined if there are none. */
  #unsent: Set<number> | undefined
  #isCatchingUp = false
  /** When `sendAll` was last called. */
  #sentAllAt = -Infinity

  constructor(client: AwarenessReceiver) {
    this.#client = client
  }

  /** Whether states wait until the client has read more. */
  get hasUnsent(): boolean {
    return this.#unsent !== undefined
  }

  get msSinceSendAll(): number {
    return performance.now() - this.#sentAllAt
  }

  /** Sends all states. Returns false if there are none. */
  sendAll(awareness: AwarenessStates): boolean {
    this.#sentAllAt = performance.now()
    this.#add(awareness.clientIds)
    const hasStates = this.#unsent !== undefined
    this.catchUp(awareness)
    return hasStates
  }

  /** Returns whether a change of these states can be sent now. If not, `catchUp` sends the states later. */
  canSendChange(clientIds: readonly number[]): boolean {
    const canSend = this.#unsent === undefined && !this.#client.connection.isBehind
    if (!canSend) this.#add(clientIds)
    return canSend
  }

  #add(clientIds: Iterable<number>): void {
    for (const clientId of clientIds) (this.#unsent ??= new Set()).add(clientId)
  }

  /** Sends the skipped states, a few in each message. */
  catchUp(awareness: AwarenessStates): void {
    if (this.#isCatchingUp || this.#unsent === undefined) return
    this.#isCatchingUp = true
    const { scheduler, owner } = this.#client.connection
    scheduler.scheduleSteps(owner, this.#steps(awareness), () => this.#client.onDeliveryFailed())
  }

  *#steps(awareness: AwarenessStates): Generator<undefined> {
    const client = this.#client
    try {
      while (this.#unsent && !client.connection.isBehind && !client.isSilent) {
        client.sendStates(awareness.takeStates(this.#unsent))
        if (this.#unsent.size === 0) this.#unsent = undefined
        yield
      }
    } finally {
      this.#isCatchingUp = false
    }
  }
}
