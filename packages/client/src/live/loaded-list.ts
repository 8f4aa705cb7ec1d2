import type { ApiError } from '@plenum/protocol/errors'
import { Listeners } from '../platform/listeners.ts'
import { Reloads } from '../platform/reloads.ts'
import { isTransient } from './errors.ts'

export interface LoadedListState {
  readonly isLoading: boolean
  readonly error: ApiError | undefined
}

/** A list that is loaded with calls and kept current. Its state is replaced as a whole on every change. */
export abstract class LoadedList<State extends LoadedListState> {
  protected readonly listeners = new Listeners<this>()
  #state: State
  readonly #reloads = new Reloads(
    () => this.#loadOnce(),
    (error) => isTransient(error as ApiError),
  )
  #isLoaded = false
  /** Why the last load failed. */
  #loadError: ApiError | undefined
  /** Why nothing can be loaded. `isFinal`: the client does not try to load anything. */
  #problem: { error: ApiError; isFinal: boolean } | undefined

  protected constructor(unloaded: State) {
    this.#state = unloaded
  }

  /** Loads what is missing. Resolves with what changes in the state. */
  protected abstract load(): Promise<Partial<State>>

  get state(): State {
    return this.#state
  }

  get isLoading(): boolean {
    return this.#state.isLoading
  }

  get error(): ApiError | undefined {
    return this.#state.error
  }

  /**
   * Loads what is missing. Resolves when it is loaded, or the server has refused it. Until then, a load that fails is tried
   * again. `isUrgent`: now, also after a failure.
   */
  protected reload(isUrgent = false): Promise<void> {
    const loaded = this.#reloads.request()
    if (isUrgent) this.#reloads.retryNow()
    return loaded
  }

  protected stopLoading(): void {
    this.#reloads.stop()
  }

  /**
   * Sets or removes the reason why nothing can be loaded. Unless it is final, a list that has been loaded does not show it: a
   * short loss of the connection is no error of the list.
   */
  setProblem(error: ApiError | undefined, isFinal: boolean): void {
    this.#problem = error && { error, isFinal }
    if (this.#currentError !== this.error) this.publish({})
  }

  protected publish(change: Partial<State>): void {
    const error = this.#currentError
    const isLoading = !this.#isLoaded && error === undefined
    this.#state = { ...this.#state, ...change, isLoading, error }
    this.listeners.emit(this)
  }

  get #currentError(): ApiError | undefined {
    const problem = this.#problem
    return problem && (problem.isFinal || !this.#isLoaded) ? problem.error : this.#loadError
  }

  async #loadOnce(): Promise<void> {
    try {
      const loaded = await this.load()
      this.#isLoaded = true
      this.#loadError = undefined
      this.publish(loaded)
    } catch (error) {
      this.#loadError = error as ApiError
      this.publish({})
      throw error
    }
  }
}
