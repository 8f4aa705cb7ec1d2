import type { UserReplacement } from '@plenum/protocol'
import type { CommentContent, StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import * as comments from '../../store/comments/comments.ts'
import { unique } from '../shared/batches.ts'
import { audienceOf, changedAudience } from '../../threads/audience-of.ts'
import { involvedIn, withComments } from '../../threads/counters.ts'
import type { ThreadChanges, ThreadContext } from '../../threads/thread-changes.ts'
import { replaceBraced } from './comment-content.ts'

/** Replaces users everywhere in an annotation (spec 19.3). An annotation that names none of them is not changed. */
export async function replaceUsers(
  { db, caller: { apiKey }, now }: ThreadContext,
  organizationId: string,
  annotation: StoredAnnotation,
  replacements: readonly UserReplacement[],
  changes: ThreadChanges,
): Promise<StoredAnnotation> {
  const newIds = new Map(replacements.map(({ oldUser, newUser }) => [oldUser.userId, newUser.userId]))
  const replaced = (id: string) => newIds.get(id) ?? id
  const found = await comments.findContents(db, apiKey, organizationId, [annotation])
  const contents = found.get(comments.refKey(annotation)) as comments.Contents
  await comments.replaceUsers(db, apiKey, organizationId, annotation, newIds)

  const all = contents.comments.map((comment) => replaceInComment(comment, replaced))
  const other = replaceInAnnotation(withComments(annotation, all), replaced, organizationId)
  const after = { ...other, ...changedAudience(annotation, other.audience, changes.seq) }
  const hasReacted = contents.reactions.some(({ userId }) => newIds.has(userId))
  const isSame = JSON.stringify([after, all]) === JSON.stringify([annotation, contents.comments])
  const users = contents.users.map((user) => ({ ...user, userId: replaced(user.userId) }))
  const isInvolved = contents.users.some(({ userId }) => newIds.has(userId))
  if (isSame && !hasReacted && !isInvolved) return annotation

  await comments.setInvolved(db, apiKey, organizationId, annotation, involvedIn(after, all, users))
  for (const comment of all) changes.putComment(annotation, { ...comment, lastUpdated: now })
  const changed = { ...after, lastUpdated: now }
  changes.put(changed)
  changes.record({ name: 'comment_annotation.update', annotation: changed, notifies: false })
  return changed
}

function replaceInAnnotation(
  annotation: StoredAnnotation,
  replaced: (id: string) => string,
  organizationId: string,
): StoredAnnotation {
  const { data, assigneeId, resolvedBy } = annotation
  const authorId = replaced(annotation.authorId)
  const { visibility, statusUpdatedByUserId } = data
  const userIds = visibility?.userIds
  const changed = visibility && { ...visibility, ...(userIds && { userIds: unique(userIds.map(replaced)) }) }
  return {
    ...annotation,
    authorId,
    assigneeId: assigneeId === null ? null : replaced(assigneeId),
    resolvedBy: resolvedBy === null ? null : replaced(resolvedBy),
    audience: audienceOf({ visibility: changed, context: data.context, authorId, organizationId }),
    data: {
      ...data,
      ...(changed && { visibility: changed }),
      ...(statusUpdatedByUserId !== undefined && { statusUpdatedByUserId: replaced(statusUpdatedByUserId) }),
    },
  }
}

function replaceInComment(comment: StoredComment, replaced: (id: string) => string): StoredComment {
  const { content, authorId } = comment
  const after: CommentContent = {
    ...content,
    ...replaceBraced(content, replaced),
    mentioned: unique(content.mentioned.map(replaced)),
    ...(content.taggedUserContacts && {
      taggedUserContacts: content.taggedUserContacts.map((tagged) => ({
        ...tagged,
        ...(tagged.userId !== undefined && { userId: replaced(tagged.userId) }),
        ...(tagged.contact?.userId !== undefined && {
          contact: { ...tagged.contact, userId: replaced(tagged.contact.userId) },
        }),
      })),
    }),
  }
  return { ...comment, authorId: replaced(authorId), content: after }
}
