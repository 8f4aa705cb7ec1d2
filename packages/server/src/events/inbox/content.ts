import { type EventName, groupedNames, type User } from '@plenum/protocol'
import { cutText } from '../../platform/cut-text.ts'
import { replaceMentions } from '../../platform/mentions.ts'
import { plainText } from '../../platform/safe-html.ts'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import * as comments from '../../store/comments/comments.ts'
import type { Db } from '../../store/engine/db.ts'
import type { Content } from '../../store/notifications/lists.ts'
import type { PendingNotification } from '../../store/notifications/pending.ts'
import { shownUser } from '../../store/notifications/shown-users.ts'
import * as users from '../../store/users/users.ts'

/** What happened, after the name of the user who did it. */
const actions: Partial<Record<EventName, string>> = {
  'comment_annotation.add': 'added a comment',
  'comment_annotation.assign': 'assigned a comment to {assignedUser}',
  'comment_annotation.status_change': 'changed the status of a comment to {status}',
  'comment_annotation.priority_change': 'changed the priority of a comment to {priority}',
  'comment_annotation.custom_list_change': 'changed the lists of a comment',
  'comment_annotation.access_mode_change': 'changed who can see a comment',
  'comment_annotation.subscribe': 'subscribed to a comment',
  'comment_annotation.unsubscribe': 'unsubscribed from a comment',
  'comment_annotation.accept': 'accepted a comment',
  'comment_annotation.reject': 'rejected a comment',
  'comment_annotation.approve': 'approved a comment',
  'comment_annotation.suggestion_accept': 'accepted a suggestion',
  'comment_annotation.suggestion_reject': 'rejected a suggestion',
  'comment.add': 'replied to a comment',
  'comment.update': 'edited a comment',
  'comment.delete': 'deleted a comment',
  'comment.reaction_add': 'reacted to a comment',
  'comment.reaction_delete': 'removed a reaction from a comment',
}

/** Texts are cut, so that a notification always fits its limit of 16 KiB. */
const maxBodyCharacters = 500
const maxNameCharacters = 200

/**
 * What the recipients read (spec 18.7.4). Undefined: the comment that the event is about was deleted meanwhile, so there is
 * nothing to read.
 */
export async function readContent(
  db: Db,
  apiKey: string,
  { organizationId, documentId, commentId, name, actorId }: PendingNotification,
  annotation: StoredAnnotation,
): Promise<Content | undefined> {
  const comment = await comments.findOrFirst(db, apiKey, organizationId, annotation, commentId)
  if (commentId !== null && name !== 'comment.delete' && comment?.commentId !== commentId) return undefined
  const { assigneeId, annotationId, locationId, data } = annotation
  const named = [actorId, assigneeId, ...(comment?.content.mentioned ?? [])].filter((id) => id !== null)
  const profiles = await users.findMany(db, apiKey, [...new Set(named)])
  const actionUser = actorId === null ? { name: 'Someone' } : profileOf(actorId, profiles.get(actorId))
  const isAssignment = name === 'comment_annotation.assign'
  const assignee = assigneeId === null ? undefined : profileOf(assigneeId, profiles.get(assigneeId))
  return {
    notificationSource: 'comment',
    actionType: groupedNames[name] ?? name,
    actionUser,
    displayHeadlineMessageTemplate: `{actionUser} ${actions[name] ?? 'changed a comment'}`,
    displayHeadlineMessageTemplateData: {
      actionUser,
      ...(isAssignment && { assignedUser: assignee?.name ?? 'nobody' }),
      ...(name === 'comment_annotation.status_change' && { status: cut(data.status.name) }),
      ...(name === 'comment_annotation.priority_change' && { priority: cut(data.priority?.name ?? 'none') }),
    },
    ...bodyOf(comment, profiles),
    shownUsers: [
      ...(comment ? [comment.authorId, ...comment.content.mentioned] : []),
      ...(isAssignment && assigneeId !== null ? [assigneeId] : []),
    ].map(shownUser),
    targetAnnotationId: annotationId,
    notificationSourceData: { annotationId, documentId, ...(commentId !== null && { commentId }) },
    ...(locationId !== null && { locationId: Number(locationId) }),
  }
}

const cut = (text: string, max = maxNameCharacters) => cutText(text, max)

function profileOf(userId: string, profile: User | undefined) {
  const { name = userId, email } = profile ?? {}
  return { userId, name: cut(name), ...(typeof email === 'string' && { email: cut(email) }) }
}

/** The text of the comment. An application that keeps the texts itself provides it. */
function bodyOf(
  comment: StoredComment | undefined,
  profiles: ReadonlyMap<string, User>,
): Pick<Content, 'displayBodyMessage' | 'isNotificationResolverUsed'> {
  const text = comment && readableText(comment, profiles)
  if (text !== undefined) return { displayBodyMessage: cut(text, maxBodyCharacters) }
  return comment?.content.isCommentResolverUsed ? { isNotificationResolverUsed: true } : {}
}

/** The plain text of a comment, with names in place of ids. Undefined: it has none. */
export function readableText(
  { content: { commentText, commentHtml, mentioned } }: StoredComment,
  profiles: ReadonlyMap<string, Pick<User, 'name'>>,
): string | undefined {
  const text = commentText ?? (commentHtml === undefined ? undefined : plainText(commentHtml))
  const users = new Set(mentioned)
  const name = (id: string) => (users.has(id) ? `@${cut(profiles.get(id)?.name ?? id)}` : undefined)
  return text === undefined ? undefined : replaceMentions(text, name).trim()
}
