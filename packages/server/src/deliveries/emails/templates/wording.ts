import type { EventName } from '@plenum/protocol'
import type { ActivityContent, MailItem, MailRecipient } from '../mail-content.ts'
import { maxSubjectCharacters, oneLine, shownName } from './texts.ts'

/** What the actor did, between the name of the actor and `on <title>`. */
const actions: Partial<Record<EventName, string>> = {
  'comment_annotation.add': 'commented',
  'comment_annotation.custom_list_change': 'changed the lists of a comment',
  'comment_annotation.access_mode_change': 'changed who can see a comment',
  'comment_annotation.subscribe': 'follows a comment',
  'comment_annotation.unsubscribe': 'no longer follows a comment',
  'comment_annotation.accept': 'accepted a comment',
  'comment_annotation.reject': 'rejected a comment',
  'comment_annotation.approve': 'approved a comment',
  'comment_annotation.suggestion_accept': 'accepted a suggestion',
  'comment_annotation.suggestion_reject': 'rejected a suggestion',
  'comment.add': 'replied',
  'comment.update': 'edited a comment',
  'comment.delete': 'deleted a comment',
  'comment.reaction_add': 'reacted to a comment',
  'comment.reaction_delete': 'removed a reaction',
  'huddle.create': 'started a call',
  'huddle.join': 'joined a call',
}

/** Events with a comment that may mention its readers for the first time. */
const mentioningEvents: readonly EventName[] = ['comment_annotation.add', 'comment.add', 'comment.update']

const isUser = (userId: string | undefined, { userId: recipientId }: MailRecipient) =>
  userId !== undefined && userId === recipientId

/** Whether the event mentions the recipient. */
export const mentions = (item: MailItem, { userId }: MailRecipient): boolean =>
  userId !== undefined &&
  mentioningEvents.includes(item.event) &&
  (item.mentionedUserIds?.includes(userId) ?? false)

/** What happened, after the name of the actor. `object` is what matters most in it: mails print it in bold. */
export interface Action {
  verb: string
  object?: string
}

export function actionOf(item: MailItem, recipient: MailRecipient): Action {
  const { event, assignee, actor, status, priority } = item
  if (mentions(item, recipient)) return { verb: 'mentioned', object: 'you' }
  switch (event) {
    case 'comment_annotation.assign': {
      if (!assignee) return { verb: 'removed the assignee of a comment' }
      if (assignee.userId !== undefined && assignee.userId === actor.userId) {
        return { verb: 'took over a comment' }
      }
      const object = isUser(assignee.userId, recipient) ? 'you' : shownName(assignee.name)
      return { verb: 'assigned a comment to', object }
    }
    case 'comment_annotation.status_change':
      return status === undefined
        ? { verb: 'changed the status' }
        : { verb: 'changed the status to', object: shownName(status) }
    case 'comment_annotation.priority_change':
      return priority === undefined
        ? { verb: 'removed the priority' }
        : { verb: 'changed the priority to', object: shownName(priority) }
    default:
      return { verb: (Object.hasOwn(actions, event) && actions[event]) || 'changed a comment' }
  }
}

export const actionText = ({ verb, object }: Action): string =>
  object === undefined ? verb : `${verb} ${object}`

export const titleOf = (item: MailItem, { documentName }: ActivityContent): string =>
  oneLine(item.pageTitle ?? '') || oneLine(documentName ?? '') || 'a document'

export function subjectOf(content: ActivityContent, recipient: MailRecipient): string {
  const [first] = content.items
  const subject =
    content.items.length === 1
      ? `${shownName(first.actor.name)} ${actionText(actionOf(first, recipient))} on ${titleOf(first, content)}`
      : digestTitle(content)
  return oneLine(subject, maxSubjectCharacters)
}

const newComments: readonly EventName[] = ['comment_annotation.add', 'comment.add']

/** `3 comments on Launch plan`, or `5 updates in Acme` if they are on several pages. */
export function digestTitle(content: ActivityContent): string {
  const { items, organizationName = '', company } = content
  const noun = items.every(({ event }) => newComments.includes(event)) ? 'comments' : 'updates'
  const titles = new Set(items.map((item) => titleOf(item, content)))
  const [title] = titles
  if (titles.size === 1) return `${items.length} ${noun} on ${title}`
  const place = oneLine(organizationName) || oneLine(company)
  return `${items.length} ${noun}${place === '' ? '' : ` in ${place}`}`
}

/** Why the recipient gets the mail. */
export function reasonFor(content: ActivityContent, recipient: MailRecipient): string {
  const { items, organizationName, documentName } = content
  if (items.length === 1) {
    const [item] = items
    if (mentions(item, recipient)) return 'You are mentioned in this comment.'
    if (isUser(item.assignee?.userId, recipient)) return 'This comment is assigned to you.'
    if (isUser(item.authorId, recipient)) return 'You started this thread.'
  }
  const place = oneLine(documentName ?? '') || oneLine(organizationName ?? '')
  return place === '' ? 'You follow these comments.' : `You follow comments in ${place}.`
}
