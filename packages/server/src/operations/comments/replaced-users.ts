import type { UserReplacement } from '@plenum/protocol'
import type { CommentContent, StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import { findContents, refKey, replaceReactors, setInvolved } from '../../store/comments/comments.ts'
import { unique } from '../shared/batches.ts'
import { audienceOf } from '../../threads/audience-of.ts'
import type { ThreadChanges, ThreadContext } from '../../threads/thread-changes.ts'

/** Replaces users everywhere in an annotation (spec 19.3). */
export async function replaceUsers(
  { db, caller: { apiKey }, now }: ThreadContext,
  organizationId: string,
  annotation: StoredAnnotation,
  replacements: readonly UserReplacement[],
  changes: ThreadChanges,
): Promise<void> {
  if (replacements.length === 0) return
  const newIds = new Map(replacements.map(({ oldUser, newUser }) => [oldUser.userId, newUser.userId]))
  const replaced = (id: string) => newIds.get(id) ?? id
  const contents = (await findContents(db, apiKey, organizationId, [annotation])).get(refKey(annotation))
  for (const comment of contents?.comments ?? []) {
    changes.putComment(annotation, replaceInComment(comment, replaced, newIds, now))
  }
  for (const [oldId, newId] of newIds)
    await replaceReactors(db, apiKey, organizationId, annotation, oldId, newId)
  const users = (contents?.users ?? []).map(({ userId, involvement }) => ({
    userId: replaced(userId),
    involvement,
  }))
  await setInvolved(db, apiKey, organizationId, annotation, users)

  const { data } = annotation
  const visibility = data.visibility && {
    ...data.visibility,
    ...(data.visibility.userIds && { userIds: unique(data.visibility.userIds.map(replaced)) }),
  }
  const authorId = replaced(annotation.authorId)
  const after = {
    ...annotation,
    authorId,
    assigneeId: annotation.assigneeId && replaced(annotation.assigneeId),
    resolvedBy: annotation.resolvedBy && replaced(annotation.resolvedBy),
    lastCommentBy: replaced(annotation.lastCommentBy),
    audience: audienceOf({ visibility, context: data.context, authorId, organizationId }),
    audienceSeq: changes.seq,
    data: {
      ...data,
      ...(visibility && { visibility }),
      ...(data.statusUpdatedByUserId && { statusUpdatedByUserId: replaced(data.statusUpdatedByUserId) }),
    },
    lastUpdated: now,
  }
  changes.put(after)
  changes.record({ name: 'comment_annotation.update', annotation: after, notifies: false })
}

function replaceInComment(
  comment: StoredComment,
  replaced: (id: string) => string,
  newIds: ReadonlyMap<string, string>,
  now: number,
): StoredComment {
  const { content, authorId } = comment
  const text = (value: string) =>
    value.replaceAll(/\{\{([^{}\n]{1,256})\}\}/g, (mention, id: string) => {
      const newId = newIds.get(id)
      return newId === undefined ? mention : `{{${newId}}}`
    })
  const after: CommentContent = {
    ...content,
    ...(content.commentText !== undefined && { commentText: text(content.commentText) }),
    ...(content.commentHtml !== undefined && { commentHtml: text(content.commentHtml) }),
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
  return { ...comment, authorId: replaced(authorId), content: after, lastUpdated: now }
}
