import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Contents } from '../../store/comments/comments.ts'
import * as comments from '../../store/comments/comments.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import type { Thread } from '../../threads/remove-comments.ts'
import { type ActingCall, requireAccess, requireVisible } from './acting-user.ts'

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
