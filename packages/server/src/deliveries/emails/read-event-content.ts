import type { EventName, User } from '@plenum/protocol'
import { readableText } from '../../events/inbox/content.ts'
import { cutText } from '../../platform/cut-text.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import * as comments from '../../store/comments/comments.ts'
import { findEmailConfig } from '../../store/deliveries/email-settings.ts'
import * as documents from '../../store/documents/documents.ts'
import type { Db } from '../../store/engine/db.ts'
import type { MailedEvent } from '../../store/jobs.ts'
import * as organizations from '../../store/organizations.ts'
import { toUser } from '../../store/users/profiles.ts'
import * as users from '../../store/users/users.ts'
import { presentAnnotation } from '../../threads/shown-annotations.ts'
import type { ActivityContent, MailPerson, TemplateComment } from './mail-content.ts'
import type { StoredMailEvent } from './stored-mail.ts'

/** A mail is no place for a longer text. The link leads to all of it. */
const maxTextCharacters = 4_000
const maxNameCharacters = 200

/**
 * The comment that an email shows: the one that the event is about, or the first one. Undefined: the comment that the event is
 * about was deleted meanwhile, so there is no email.
 */
export async function findShownComment(
  db: Db,
  apiKey: string,
  {
    organizationId,
    commentId,
    commentCreatedAt,
    name,
  }: MailedEvent & Pick<StoredMailEvent, 'commentCreatedAt'>,
  annotation: StoredAnnotation,
): Promise<{ comment: StoredComment | undefined } | undefined> {
  if (commentCreatedAt !== undefined) {
    const comment = await comments.findCreatedAt(db, apiKey, organizationId, annotation, commentCreatedAt)
    return comment && { comment }
  }
  const comment = await comments.findOrFirst(db, apiKey, organizationId, annotation, commentId)
  const isGone = commentId !== null && name !== 'comment.delete' && comment?.commentId !== commentId
  return isGone ? undefined : { comment }
}

/** What an email about an event says. It is the same for all recipients. */
export async function readEventContent(
  db: Db,
  { apiKey }: ApiKey,
  event: StoredMailEvent,
  annotation: StoredAnnotation,
  comment: StoredComment | undefined,
): Promise<ActivityContent> {
  const { organizationId, name, actorId } = event
  const { documentId } = annotation
  const { first, previous, latest } = comment
    ? await comments.findNeighbours(db, apiKey, organizationId, annotation, comment)
    : {}
  const shown = [comment, first, previous, latest].filter((one) => one !== undefined)
  const { authorId, annotationId, data } = annotation
  const { status, priority, assignedUserId: assigneeId } = { ...changeable(annotation), ...event.changed }
  const named = shown.flatMap(({ authorId, content }) => [authorId, ...content.mentioned])
  const involved = [...named, authorId, actorId, assigneeId, annotation.assigneeId].filter(
    (id) => id !== null,
  )
  const profiles = await users.findMany(db, apiKey, [...new Set(involved)])
  const person = (userId: string) => personOf(userId, profiles.get(userId))
  const textOf = (one: StoredComment) => cutText(readableText(one, profiles) ?? '', maxTextCharacters)
  const templateComment = (one: StoredComment): TemplateComment => ({
    commentId: one.commentId,
    commentText: textOf(one),
    from: person(one.authorId),
  })
  const [document] = await documents.findMany(db, apiKey, organizationId, [documentId])
  const [organization] = await organizations.findMany(db, apiKey, [organizationId])
  const { fromCompany = '' } = await findEmailConfig(db, apiKey)
  const documentName = nameIn(document?.data, 'documentName')
  const organizationName = nameIn({ ...organization }, 'organizationName')
  const { pageInfo } = data
  const { comments: _, ...shownAnnotation } = presentAnnotation(annotation, {
    apiKey,
    organizationId,
    version: 'v2',
    comments: [],
    users: [],
    profile: (userId) => profiles.get(userId) ?? toUser(userId, {}),
    folderId: document?.folderId,
  })
  return {
    kind: 'event',
    company: fromCompany,
    ...(documentName !== undefined && { documentName }),
    ...(organizationName !== undefined && { organizationName }),
    items: [
      {
        event: name,
        actor: actorId === null ? { name: fromCompany || 'Someone' } : person(actorId),
        annotationId,
        ...(comment && { commentText: textOf(comment), mentionedUserIds: comment.content.mentioned }),
        ...(previous && {
          earlierComment: { author: person(previous.authorId).name, text: textOf(previous) },
        }),
        commentsCount: annotation.comments,
        ...title(pageInfo?.title ?? documentName),
        ...link(pageInfo?.commentUrl ?? pageInfo?.url),
        status,
        ...(priority !== null && { priority }),
        ...(assigneeId !== null && { assignee: person(assigneeId) }),
        authorId,
        timestamp: comment?.createdAt ?? annotation.lastUpdated,
        template: {
          ...(first && { firstComment: templateComment(first) }),
          ...(latest && { latestComment: templateComment(latest) }),
          ...(previous && { prevComment: templateComment(previous) }),
          commentAnnotation: shownAnnotation,
          documentMetadata: document?.data ?? {},
          ...(isObject(pageInfo?.deviceInfo) && { deviceInfo: pageInfo.deviceInfo }),
        },
      },
    ],
  }
}

/** What is stored of a change, because another user may have changed it again when the mail is sent. */
export function changedBy(name: EventName, annotation: StoredAnnotation): StoredMailEvent['changed'] {
  const { status, priority, assignedUserId } = changeable(annotation)
  if (name === 'comment_annotation.status_change') return { status }
  if (name === 'comment_annotation.priority_change') return { priority }
  if (name === 'comment_annotation.assign') return { assignedUserId }
  return undefined
}

const changeable = ({ assigneeId, data: { status, priority } }: StoredAnnotation) => ({
  status: status.name,
  priority: priority?.name ?? null,
  assignedUserId: assigneeId,
})

const title = (pageTitle: string | undefined) => (pageTitle === undefined ? {} : { pageTitle })
const link = (pageUrl: string | undefined) => (pageUrl === undefined ? {} : { pageUrl })

function personOf(userId: string, profile: User | undefined): MailPerson {
  const { name = userId, email, photoUrl } = profile ?? {}
  return {
    userId,
    name: cutText(name, maxNameCharacters),
    ...(email !== undefined && { email }),
    ...(photoUrl !== undefined && { photoUrl }),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function nameIn(metadata: Record<string, unknown> | undefined, field: string): string | undefined {
  const name = metadata?.[field]
  return typeof name === 'string' && name !== '' ? cutText(name, maxNameCharacters) : undefined
}
