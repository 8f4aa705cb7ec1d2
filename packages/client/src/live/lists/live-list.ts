import type { ApiError } from '@plenum/protocol/errors'
import type { Unsubscribe } from '../../platform/listeners.ts'

/** The state of a list. Immutable: a change gives a new object. */
export interface LiveListState<Item> {
  /** The loaded items, in the order of the list. */
  readonly items: readonly Item[]
  /** Whether the first items are still being loaded. */
  readonly isLoading: boolean
  /** Whether there are further items, which `loadMore` loads. */
  readonly hasMore: boolean
  /** Why the list could not be loaded. It is tried again if that can help. */
  readonly error: ApiError | undefined
}

/**
 * What the user may see of an organization, kept current while there is a subscriber. While offline, methods wait for the
 * connection.
 */
export interface LiveList<Item> extends LiveListState<Item> {
  /** The state as one object, which is replaced on every change. */
  readonly state: LiveListState<Item>
  /** Calls the listener on every later change of the state. */
  subscribe(listener: (list: LiveList<Item>) => void): Unsubscribe
  /** Loads further items. */
  loadMore(): Promise<void>
}

export const unloadedList: LiveListState<never> = {
  items: [],
  isLoading: true,
  hasMore: false,
  error: undefined,
}
