import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { type Contents, findContents, refKey } from '../../store/comments/comments.ts'
import * as reactions from '../../store/comments/reactions.ts'
import { findInvolving, findReactionsOf } from '../../store/comments/user-threads.ts'
import type { RowStep } from '../../store/deletions/row-step.ts'
import type { Db } from '../../store/engine/db.ts'
import { scanAnnotations } from '../../store/erasures/scanned-annotations.ts'
import { scanComments } from '../../store/erasures/scanned-comments.ts'
import { type ErasedUsers, idsOf } from '../../store/erasures/user-rows.ts'
import type { ErasedIds } from '../../store/erasures/without-users.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { removeComments } from '../../threads/remove-comments.ts'
import { ThreadChanges, type ThreadContext } from '../../threads/thread-changes.ts'
import { namesErased, withoutErased, withoutUsersOf } from './erased-thread.ts'

/** Annotations that one step changes, unless their comments are large. */
const annotationsPerStep = 20
const commentBytesPerStep = 256 * 1024
/** Comments of one annotation that one step removes. */
const commentsPerStep = 100

/** What the steps need besides their transaction. */
type StepContext = Omit<ThreadContext, 'db'>

/** The steps that erase users from the comment threads of an organization. */
export function threadSteps(context: StepContext, erased: ErasedUsers): RowStep[] {
  const { apiKey, organizationId, userIds } = erased
  const ids = idsOf(erased)
  const erase = (db: Db, found: readonly StoredAnnotation[]) =>
    eraseFromSome({ ...context, db }, organizationId, found, ids)
  return [
    (db) => removeSomeReactions({ ...context, db }, organizationId, userIds),
    // Each step removes the users from annotations that it finds, so the next one finds others.
    async (db) => {
      const refs = await findInvolving(db, apiKey, organizationId, userIds, annotationsPerStep)
      if (refs.length === 0) return false
      await erase(db, await annotations.findMany(db, apiKey, organizationId, refs))
      return true
    },
    scanAnnotations(erased, async (db, found) => {
      const naming = found.filter((annotation) => namesErased(annotation, ids))
      return (await erase(db, naming)) ? 'again' : undefined
    }),
  ]
}

/** The step that removes users from comments of others in which nothing but the context or an attachment names them. */
export function commentStep(context: StepContext, erased: ErasedUsers): RowStep {
  const { apiKey, organizationId } = erased
  return scanComments(erased, async (db, refs) => {
    const naming = await annotations.findMany(db, apiKey, organizationId, refs)
    const isCut = await eraseFromSome({ ...context, db }, organizationId, naming, idsOf(erased))
    return isCut ? 'again' : undefined
  })
}

/** What an event says about an annotation of which it must not repeat the content. */
const keysOf = ({ annotationId, number }: StoredAnnotation) => ({
  annotation: { annotationId, annotationNumber: number },
})

async function removeSomeReactions(
  context: ThreadContext,
  organizationId: string,
  userIds: readonly string[],
): Promise<boolean> {
  const { db, caller } = context
  const { apiKey } = caller
  const found = await findReactionsOf(db, apiKey, organizationId, userIds, annotationsPerStep)
  const [first] = found
  if (!first) return false
  const { documentId } = first
  const inDocument = found.filter((reaction) => reaction.documentId === documentId)
  await reactions.removeMany(db, apiKey, organizationId, inDocument)
  const changes = await ThreadChanges.begin(context, { organizationId, documentId })
  const refs = [...new Map(inDocument.map((reaction) => [refKey(reaction), reaction])).values()]
  const changed = await annotations.findMany(db, apiKey, organizationId, refs)
  for (const annotation of changed) {
    changes.put(annotation)
    for (const { number, commentId, icon } of inDocument) {
      if (number !== annotation.number) continue
      const payload = { ...keysOf(annotation), comment: { commentId }, icon }
      changes.record({ name: 'comment.reaction_delete', annotation, notifies: false, payload })
    }
  }
  await changes.save()
  return true
}

/** Erases the users from the first annotations: of one document, with limited comments. Returns whether others are left. */
async function eraseFromSome(
  context: ThreadContext,
  organizationId: string,
  found: readonly StoredAnnotation[],
  erased: ErasedIds,
): Promise<boolean> {
  const documentId = found[0]?.documentId
  if (documentId === undefined) return false
  let bytes = 0
  const some = found.filter((annotation, index) => {
    if (annotation.documentId !== documentId) return false
    bytes += annotation.commentBytes
    return index === 0 || bytes <= commentBytesPerStep
  })
  await eraseFromDocument(context, { organizationId, documentId }, some, erased)
  return some.length < found.length
}

async function eraseFromDocument(
  context: ThreadContext,
  document: DocumentRef,
  found: readonly StoredAnnotation[],
  erased: ErasedIds,
): Promise<void> {
  const { db, caller } = context
  const { organizationId } = document
  const { userIds } = erased
  const contents = await findContents(db, caller.apiKey, organizationId, found)
  const changes = await ThreadChanges.begin(context, document)
  for (const before of found) {
    const stored = contents.get(refKey(before)) as Contents
    const theirs = stored.comments.filter(({ authorId }) => userIds.has(authorId))
    // The other comments of the users keep them involved, so another step finds the annotation again.
    const removed = theirs.slice(0, commentsPerStep)
    const others = stored.comments.filter((comment) => !theirs.includes(comment))
    const place = { organizationId, seq: changes.seq }
    const annotation = withoutErased(before, others, erased, place)
    const comments = stored.comments.map((comment) => {
      const cleaned = userIds.has(comment.authorId) ? undefined : withoutUsersOf(comment, erased)
      if (cleaned) changes.putComment(annotation, cleaned)
      return cleaned ?? comment
    })
    const users = stored.users.filter(({ userId }) => !userIds.has(userId))
    const removedComments = comments.filter((comment) => removed.includes(comment))
    const thread = { ...stored, annotation, comments, users }
    await removeComments(context, changes, organizationId, thread, removedComments, {
      notifies: false,
      payloadOf: ({ commentId }) => ({ ...keysOf(annotation), comment: { commentId } }),
      annotationPayload: keysOf(annotation),
    })
    if (removed.length === 0)
      changes.record({ name: 'comment_annotation.update', annotation, notifies: false })
  }
  await changes.save()
}
