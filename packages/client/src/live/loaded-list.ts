import type { ApiError } from '@plenum/protocol/errors'
import { Listeners } from '../platform/listeners.ts'

interface LoadedListState {
  readonly isLoading: boolean
  readonly hasMore: boolean
  readonly error: ApiError | undefined
}

/** A list that is loaded page by page and kept current. Its state is replaced as a whole on every change. */
export abstract class LoadedList<State extends LoadedListState> {
  protected readonly listeners = new Listeners<this>()
  #state: State

  protected constructor(unloaded: State) {
    this.#state = unloaded
  }

  get state(): State {
    return this.#state
  }

  get isLoading(): boolean {
    return this.#state.isLoading
  }

  get hasMore(): boolean {
    return this.#state.hasMore
  }

  get error(): ApiError | undefined {
    return this.#state.error
  }

  protected publish(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
    this.listeners.emit(this)
  }
}
