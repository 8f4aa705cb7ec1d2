import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../platform/listeners.ts'
import type { UserOperations } from './calls/socket-calls.ts'
import { LoadedList, type LoadedListState } from './loaded-list.ts'
import type { Done } from './pending-requests.ts'

export interface SubscribedListDeps {
  readonly operations: UserOperations
  readonly isReady: boolean
  send(message: ClientMessage): void
  request(message: (id: number) => ClientMessage, onOutcome: (outcome: Done | ApiError) => void): void
  /** Connects, if the connection was not used before. */
  connect(): void
}

/** A list of an organization about whose changes the server tells, while somebody uses it. */
export abstract class SubscribedList<
  State extends LoadedListState,
  Deps extends SubscribedListDeps = SubscribedListDeps,
> extends LoadedList<State> {
  protected readonly organizationId: string
  protected readonly deps: Deps
  #subscribers = 0

  protected constructor(unloaded: State, organizationId: string, deps: Deps) {
    super(unloaded)
    this.organizationId = organizationId
    this.deps = deps
  }

  protected abstract openMessage(id: number): ClientMessage
  protected abstract closeMessage(): ClientMessage
  /** The server tells about changes from now on. */
  protected abstract onOpened(): void

  protected get isUsed(): boolean {
    return this.#subscribers > 0
  }

  subscribe(listener: (list: this) => void): Unsubscribe {
    const remove = this.listeners.add(listener)
    let isSubscribed = true
    if (++this.#subscribers === 1) {
      this.deps.connect()
      this.open()
    }
    return () => {
      if (!isSubscribed) return
      isSubscribed = false
      remove()
      if (--this.#subscribers > 0) return
      this.stopLoading()
      if (this.deps.isReady) this.deps.send(this.closeMessage())
    }
  }

  /** Subscribes at the server, if somebody uses the list. Called when the connection is ready. */
  open(): void {
    if (!this.isUsed || !this.deps.isReady) return
    this.deps.request(
      (id) => this.openMessage(id),
      (outcome) => {
        const isRefused = outcome instanceof ApiError
        this.setProblem(isRefused ? outcome : undefined, true)
        if (!isRefused) this.onOpened()
      },
    )
  }

  close(): void {
    this.stopLoading()
    this.listeners.clear()
    this.#subscribers = 0
  }
}
