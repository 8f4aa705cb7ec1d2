import type { ApiError } from '@plenum/protocol/errors'
import type { NotificationRecord } from '../../operations/index.ts'
import type { Unsubscribe } from '../../platform/listeners.ts'

/** A notification in the inbox of the user of the connection. */
export type InboxNotification = NotificationRecord

/** The state of an inbox. Immutable: a change gives a new object. */
export interface InboxState {
  /** The loaded notifications, newest first. */
  readonly notifications: readonly InboxNotification[]
  /** How many of the loaded notifications are unread. */
  readonly unreadCount: number
  /** Whether the first notifications are still being loaded. */
  readonly isLoading: boolean
  /** Whether there are older notifications, which `loadMore` loads. */
  readonly hasMore: boolean
  /** Why the notifications could not be loaded. */
  readonly error: ApiError | undefined
}

/**
 * The notifications of the user in an organization, kept current while there is a subscriber. A method rejects with an
 * `ApiError` if the server refuses it. While offline, methods wait for the connection.
 */
export interface Inbox extends InboxState {
  /** The state as one object, which is replaced on every change. */
  readonly state: InboxState
  /** Calls the listener on every later change of the state. */
  subscribe(listener: (inbox: Inbox) => void): Unsubscribe
  /** Loads older notifications. */
  loadMore(): Promise<void>
  /** Marks notifications as read. */
  markRead(...notificationIds: string[]): Promise<void>
}

export const unloadedInbox: InboxState = {
  notifications: [],
  unreadCount: 0,
  isLoading: true,
  hasMore: false,
  error: undefined,
}
