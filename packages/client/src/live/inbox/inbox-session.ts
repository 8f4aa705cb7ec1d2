import type { ClientMessage } from '@plenum/protocol/realtime'
import { readPages } from '../pages.ts'
import { SubscribedList, type SubscribedListDeps } from '../subscribed-list.ts'
import { type Inbox, type InboxNotification, type InboxState, unloadedInbox } from './inbox.ts'

interface InboxDeps extends SubscribedListDeps {
  readonly userId: string | undefined
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
export class InboxSession extends SubscribedList<InboxState, InboxDeps> implements Inbox {
  /** How many notifications are wanted: `loadMore` adds a page. */
  #wanted = pageSize

  constructor(organizationId: string, deps: InboxDeps) {
    super(unloadedInbox, organizationId, deps)
  }

  get notifications(): readonly InboxNotification[] {
    return this.state.notifications
  }

  get unreadCount(): number {
    return this.state.unreadCount
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
    if (this.deps.userId === undefined) await this.reload(true)
    const readByUserIds = [this.deps.userId as string]
    for (let from = 0; from < notificationIds.length; from += maxMarked) {
      const some = notificationIds.slice(from, from + maxMarked)
      await this.deps.operations.notifications.update({
        organizationId: this.organizationId,
        notifications: some.map((id) => ({ id, readByUserIds, persistReadForUsers: true })),
      })
    }
    await this.reload(true)
  }

  protected openMessage(id: number): ClientMessage {
    return { type: 'openInbox', id, organizationId: this.organizationId }
  }

  protected closeMessage(): ClientMessage {
    return { type: 'closeInbox', organizationId: this.organizationId }
  }

  protected onOpened(): void {
    void this.reload(true)
  }

  /** The server says that the inbox changed. */
  onChanged(): void {
    if (this.isUsed) void this.reload()
  }

  protected async load(): Promise<Partial<InboxState>> {
    const { data: notifications, nextPageToken } = await readPages(this.#wanted, (page) =>
      this.deps.operations.notifications.get({ organizationId: this.organizationId, ...page }),
    )
    const unreadCount = notifications.filter(({ isUnread }) => isUnread).length
    return {
      notifications,
      unreadCount,
      hasMore: nextPageToken !== undefined && this.#wanted < maxPageSize,
    }
  }
}
