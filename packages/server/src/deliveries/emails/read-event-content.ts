import type { User } from '@plenum/protocol'
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

/** A mail is no place for a longer text. The link leads to all of it. */
const maxTextCharacters = 4_000
const maxNameCharacters = 200

/**
 * What an email about an event says. It is the same for all recipients. Undefined: the comment that the event is about was
 * deleted meanwhile.
 */
export async function readEventContent(
  db: Db,
  { apiKey }: ApiKey,
  event: MailedEvent,
  annotation: StoredAnnotation,
): Promise<ActivityContent | undefined> {
  const { organizationId, documentId, commentId, name, actorId } = event
  const comment = await comments.findOrFirst(db, apiKey, organizationId, annotation, commentId)
  if (commentId !== null && name !== 'comment.delete' && comment?.commentId !== commentId) return undefined
  const { first, previous, latest } = comment
    ? await comments.findNeighbours(db, apiKey, organizationId, annotation, comment)
    : {}
  const shown = [comment, first, previous, latest].filter((one) => one !== undefined)
  const { assigneeId, authorId, annotationId, data } = annotation
  const named = shown.flatMap(({ authorId, content }) => [authorId, ...content.mentioned])
  const involved = [...named, authorId, ...[actorId, assigneeId].filter((id) => id !== null)]
  const namedUserIds = [...new Set(involved)]
  const profiles = await users.findMany(db, apiKey, namedUserIds)
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
  const { pageInfo, status, priority } = data
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
        status: status.name,
        ...(priority && { priority: priority.name }),
        ...(assigneeId !== null && { assignee: person(assigneeId) }),
        authorId,
        namedUserIds,
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
