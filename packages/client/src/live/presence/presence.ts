import type { OnlineStatus, PresentUser } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'

type AnyData = Record<string, unknown>

/** What to publish about the own user. A field that is left out keeps its value. */
export interface OwnPresence<Data extends object = AnyData> {
  /** Overrides the automatic status until the user is active again. */
  status?: OnlineStatus
  /** Data of your application, such as a cursor. `null` removes it. */
  data?: Data | null
}

/**
 * The users who have a document open, and those that a backend added. `Data` is the type of the data that your application
 * publishes. The server does not check it: `data` of another user is what that user's client sent.
 */
export interface Presence<Data extends object = AnyData> {
  /** All users, including the own one. Every change gives a new array. */
  readonly users: readonly PresentUser<Data>[]
  /**
   * The own user: one entry, however many tabs and devices have the document open. Undefined until the server has sent it.
   */
  readonly self: PresentUser<Data> | undefined
  /** All users except the own one. The array stays the same object until one of them changes, joins or leaves. */
  readonly others: readonly PresentUser<Data>[]
  /** Calls the listener on every later change of `users`. */
  subscribe(listener: (users: readonly PresentUser<Data>[]) => void): Unsubscribe
  /**
   * Publishes the status and the data of the own user, at most 20 times a second; the latest call wins. Throws an
   * `ApiError` (`INVALID_ARGUMENT`) for an unknown status and for data above the limits, such as 16 KiB of JSON.
   */
  set(own: OwnPresence<Data>): void
}
