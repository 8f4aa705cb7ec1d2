import type { Inbox, InboxNotification } from '@plenum/client'
import { element } from './elements.ts'

/** `{actionUser} commented` with the values of the notification. */
function headlineOf(notification: InboxNotification): string {
  const { displayHeadlineMessageTemplate: template = '', displayHeadlineMessageTemplateData: values = {} } =
    notification
  return template.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
    const value = (values as Record<string, unknown>)[name]
    return String((value as { name?: string } | undefined)?.name ?? value ?? all)
  })
}

/** Shows a bell with the number of unread notifications. It opens the list, and marks what it shows as read when it closes. */
export function showInbox(parent: HTMLElement, inbox: Inbox): void {
  const summary = element('summary', {})
  const list = element('ul', {})
  const details = element('details', { className: 'inbox' }, summary, list)
  details.addEventListener('toggle', () => {
    const unread = inbox.notifications.filter(({ isUnread }) => isUnread).map(({ id }) => id)
    if (!details.open && unread.length > 0) void inbox.markRead(...unread)
  })
  document.addEventListener('click', ({ target }) => {
    if (!details.contains(target as Node)) details.open = false
  })
  const render = () => {
    const { notifications, unreadCount, error } = inbox
    summary.textContent = unreadCount > 0 ? `Inbox (${unreadCount})` : 'Inbox'
    const items = notifications.map((notification) => {
      const item = element('li', {}, element('b', {}, headlineOf(notification)))
      if (notification.displayBodyMessage) item.append(element('p', {}, notification.displayBodyMessage))
      if (notification.isUnread) item.dataset.unread = 'true'
      return item
    })
    const empty = element('li', {}, error?.message ?? 'Nothing yet.')
    list.replaceChildren(...(items.length > 0 ? items : [empty]))
  }
  render()
  inbox.subscribe(render)
  parent.append(details)
}
