import type { Unsubscribe } from '../../platform/listeners.ts'

/** A small JSON value that all users of a document share and the server stores. */
export interface LiveState<T extends object = Record<string, unknown>> {
  readonly liveStateDataId: string
  /**
   * The stored value with your own unsaved changes applied. Undefined until it has been set. Immutable: a change gives
   * a new object.
   */
  readonly value: T | undefined
  /** Calls the listener on every later change of the value. */
  subscribe(listener: (value: T | undefined) => void): Unsubscribe
  /**
   * Replaces the value. `value` changes at once. The promise resolves when the server has stored the value; offline, it
   * waits for the next connection. Only one write is in flight: later writes are merged and sent next. When the server
   * refuses the write, the promise rejects with an `ApiError`, the value is restored and an `error` event is emitted.
   */
  set(data: T, options?: { merge?: false }): Promise<void>
  /** Sets the given keys and keeps the others. It merges one level deep: nested objects are replaced. */
  set(data: Partial<T>, options: { merge: true }): Promise<void>
}
