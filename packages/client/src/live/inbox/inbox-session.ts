import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import { LoadedList } from '../loaded-list.ts'
import type { Done } from '../pending-requests.ts'
import { type Inbox, type InboxNotification, type InboxState, unloadedInbox } from './inbox.ts'

interface InboxDeps {
  readonly operations: UserOperations
  readonly userId: string | undefined
  readonly isReady: boolean
  send(message: ClientMessage): void
  request(message: (id: number) => ClientMessage, onOutcome: (outcome: Done | ApiError) => void): void
  /** Connects, if the connection was not used before. */
  connect(): void
}

/** Notifications that are loaded at once. */
const pageSize = 50
/** The most that one call returns. */
const maxPageSize = 1000
/** The most that one call marks as read. */
const maxMarked = 500

/**
 * Loads the notifications again whenever the server says that they changed. So what the user sees is always the answer of
 * one call.
 */
export class InboxSession extends LoadedList<InboxState> implements Inbox {
  readonly #organizationId: string
  readonly #deps: InboxDeps
  #subscribers = 0
  /** How many notifications are wanted: `loadMore` adds a page. */
  #wanted = pageSize
  #loading: Promise<void> | undefined
  /** Whether the inbox changed after the running load began. */
  #isStale = false

  constructor(organizationId: string, deps: InboxDeps) {
    super(unloadedInbox)
    this.#organizationId = organizationId
    this.#deps = deps
  }

  get notifications(): readonly InboxNotification[] {
    return this.state.notifications
  }

  get unreadCount(): number {
    return this.state.unreadCount
  }

  subscribe(listener: (inbox: Inbox) => void): Unsubscribe {
    const remove = this.listeners.add(listener)
    let isSubscribed = true
    if (++this.#subscribers === 1) {
      this.#deps.connect()
      this.open()
    }
    return () => {
      if (!isSubscribed) return
      isSubscribed = false
      remove()
      if (--this.#subscribers === 0 && this.#deps.isReady)
        this.#deps.send({ type: 'closeInbox', organizationId: this.#organizationId })
    }
  }

  async loadMore(): Promise<void> {
    if (!this.state.hasMore) return
    this.#wanted = Math.min(maxPageSize, this.#wanted + pageSize)
    await this.#load()
  }

  async markRead(...notificationIds: string[]): Promise<void> {
    // The user is known once something has been loaded.
    if (this.#deps.userId === undefined) await this.#load()
    const readByUserIds = [this.#deps.userId as string]
    for (let from = 0; from < notificationIds.length; from += maxMarked) {
      const some = notificationIds.slice(from, from + maxMarked)
      await this.#deps.operations.notifications.update({
        organizationId: this.#organizationId,
        notifications: some.map((id) => ({ id, readByUserIds, persistReadForUsers: true })),
      })
    }
    await this.#load()
  }

  /** Subscribes at the server, if somebody uses the inbox. Called when the connection is ready. */
  open(): void {
    if (this.#subscribers === 0 || !this.#deps.isReady) return
    const organizationId = this.#organizationId
    this.#deps.request(
      (id) => ({ type: 'openInbox', id, organizationId }),
      (outcome) => {
        if (outcome instanceof ApiError) this.fail(outcome)
        else void this.#load()
      },
    )
  }

  /** The server says that the inbox changed. */
  onChanged(): void {
    if (this.#subscribers > 0) void this.#load()
  }

  fail(error: ApiError): void {
    this.publish({ isLoading: false, error })
  }

  close(): void {
    this.listeners.clear()
    this.#subscribers = 0
  }

  /** Resolves when a load that began after this call has ended. A failed load is shown as `error`. */
  #load(): Promise<void> {
    this.#isStale = true
    this.#loading ??= this.#loadUntilFresh().finally(() => (this.#loading = undefined))
    return this.#loading
  }

  async #loadUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        const { data, nextPageToken } = await this.#deps.operations.notifications.get({
          organizationId: this.#organizationId,
          pageSize: this.#wanted,
        })
        const unreadCount = data.filter(({ isUnread }) => isUnread).length
        const hasMore = nextPageToken !== undefined && this.#wanted < maxPageSize
        this.publish({ notifications: data, unreadCount, hasMore, isLoading: false, error: undefined })
      } catch (error) {
        this.fail(error as ApiError)
      }
    }
  }
}
