import { ApiError } from '@plenum/protocol/errors'
import type { ClientMessage } from '@plenum/protocol/realtime'
import type { Unsubscribe } from '../../platform/listeners.ts'
import type { UserOperations } from '../calls/socket-calls.ts'
import { LoadedList } from '../loaded-list.ts'
import { readPages } from '../pages.ts'
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
      if (--this.#subscribers > 0) return
      this.stopLoading()
      if (this.#deps.isReady) this.#deps.send({ type: 'closeInbox', organizationId: this.#organizationId })
    }
  }

  get hasMore(): boolean {
    return this.state.hasMore
  }

  async loadMore(): Promise<void> {
    if (!this.state.hasMore) return
    this.#wanted = Math.min(maxPageSize, this.state.notifications.length + pageSize)
    await this.reload(true)
  }

  async markRead(...notificationIds: string[]): Promise<void> {
    // The user is known once something has been loaded.
    if (this.#deps.userId === undefined) await this.reload(true)
    const readByUserIds = [this.#deps.userId as string]
    for (let from = 0; from < notificationIds.length; from += maxMarked) {
      const some = notificationIds.slice(from, from + maxMarked)
      await this.#deps.operations.notifications.update({
        organizationId: this.#organizationId,
        notifications: some.map((id) => ({ id, readByUserIds, persistReadForUsers: true })),
      })
    }
    await this.reload(true)
  }

  /** Subscribes at the server, if somebody uses the inbox. Called when the connection is ready. */
  open(): void {
    if (this.#subscribers === 0 || !this.#deps.isReady) return
    const organizationId = this.#organizationId
    this.#deps.request(
      (id) => ({ type: 'openInbox', id, organizationId }),
      (outcome) => {
        const isRefused = outcome instanceof ApiError
        this.setProblem(isRefused ? outcome : undefined, true)
        if (!isRefused) void this.reload(true)
      },
    )
  }

  /** The server says that the inbox changed. */
  onChanged(): void {
    if (this.#subscribers > 0) void this.reload()
  }

  close(): void {
    this.stopLoading()
    this.listeners.clear()
    this.#subscribers = 0
  }

  protected async load(): Promise<Partial<InboxState>> {
    const { data: notifications, nextPageToken } = await readPages(this.#wanted, (page) =>
      this.#deps.operations.notifications.get({ organizationId: this.#organizationId, ...page }),
    )
    const unreadCount = notifications.filter(({ isUnread }) => isUnread).length
    return {
      notifications,
      unreadCount,
      hasMore: nextPageToken !== undefined && this.#wanted < maxPageSize,
    }
  }
}
