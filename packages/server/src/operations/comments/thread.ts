import type { StoredAnnotation, StoredComment } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Contents, InvolvedUser } from '../../store/comments/comments.ts'
import * as comments from '../../store/comments/comments.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { type ActingCall, requireAccess, requireVisible } from './acting-user.ts'
import { checkThread, withNewest } from './added-comments.ts'

export interface AnnotationInput {
  organizationId: string
  documentId: string
  annotationId: string
}

/** The annotation that the call names, if the caller may read it or, with `write`, change it. */
export async function requireAnnotation(
  call: ActingCall,
  { organizationId, documentId, annotationId }: AnnotationInput,
  need: 'read' | 'write',
): Promise<StoredAnnotation> {
  const document = { organizationId, documentId }
  const visible = await requireAccess(call, document, need)
  const [found] = await annotations.findByIds(call.db, call.caller.apiKey, document, [annotationId])
  if (!found) throw doesNotExist('Annotation')
  await requireVisible(found, visible)
  return found
}

/** An annotation with everything that belongs to it. */
export type Thread = Contents & { annotation: StoredAnnotation }

export async function requireThread(
  call: ActingCall,
  input: AnnotationInput,
  need: 'read' | 'write',
): Promise<Thread> {
  const annotation = await requireAnnotation(call, input, need)
  const { db, caller } = call
  const found = await comments.findContents(db, caller.apiKey, input.organizationId, [annotation])
  return { annotation, ...(found.get(comments.refKey(annotation)) as Contents) }
}

/** The annotation with the counters that follow from its comments, of which there is at least one. Refuses too many of them. */
export function withComments(annotation: StoredAnnotation, left: readonly StoredComment[]): StoredAnnotation {
  const changed = { ...annotation, comments: left.length, commentBytes: 0, ...noComments(annotation) }
  for (const comment of left) {
    changed.commentBytes += comments.commentSize(comment)
    Object.assign(changed, withNewest(changed, comment))
  }
  checkThread(changed)
  return changed
}

const noComments = ({ authorId }: StoredAnnotation) => ({
  lastCommentSeq: 0,
  lastCommentBy: authorId,
  otherCommentSeq: 0,
})

/** Who is involved after comments changed: the choices that users made stay. */
export function involvedIn(
  { assigneeId }: StoredAnnotation,
  left: readonly StoredComment[],
  before: readonly InvolvedUser[],
): InvolvedUser[] {
  const chosen = before.filter(({ involvement }) => ['subscribed', 'unsubscribed'].includes(involvement))
  return [
    ...chosen,
    ...(assigneeId === null ? [] : [{ userId: assigneeId, involvement: 'assigned' as const }]),
    ...left.flatMap(({ authorId, content }) => [
      { userId: authorId, involvement: 'commented' as const },
      ...content.mentioned.map((userId) => ({ userId, involvement: 'mentioned' as const })),
    ]),
  ]
}
