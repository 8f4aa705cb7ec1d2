import { ApiError, type Operations } from '@plenum/protocol'
import type { PreparedWrite } from '../../calls/call.ts'
import { firstFew } from '../../store/comments/annotation.ts'
import * as documents from '../../store/documents/documents.ts'
import type { Db } from '../../store/engine/db.ts'
import { outcomes } from '../shared/batches.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import type { Visible } from '../../store/comments/audience.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import { ThreadChanges, type ThreadContext } from '../../threads/thread-changes.ts'
import { type ActingCall, requireAccess, requireAuthorship } from './acting-user.ts'
import { selectAnnotations, type Selectors } from './selected-annotations.ts'

type Delete = Operations['commentAnnotations']['delete']

/** One transaction deletes this many annotations, and no more comments and bytes together. */
const maxPerTransaction = 100
const maxCommentsPerTransaction = { comments: 1_000, bytes: 1024 * 1024 }

/** A document may have very many annotations, so all but the last of them are deleted in transactions of their own. */
export const deleteAnnotations: PreparedWrite<Delete> = {
  async prepare(call): Promise<string[]> {
    const { caller, db, services } = call
    const organizationId = await findOrganization(call)
    const input = { ...call.input, organizationId }
    const deleted: string[] = []
    const visible = await requireAccess(call, input, 'write')
    while ((await selectFew({ db, caller }, input, visible)).hasMore) {
      const step = (context: ThreadContext) => deleteFew({ ...context, caller, services }, input)
      deleted.push(...(await changeInStep(call, step)).deleted)
    }
    return deleted
  },

  async write(call, before: string[]) {
    const organizationId = await findOrganization(call)
    const { documentId } = call.input
    const { deleted: last, ids } = await deleteFew(call, { ...call.input, organizationId })
    if (before.length > 0) {
      call.signal({ kind: 'changed', organizationId, documentIds: [documentId] })
      call.signal({ kind: 'inbox', organizationId })
    }
    const deleted = new Set([...before, ...last])
    return outcomes(call.input.annotationIds ? ids : deleted, (id) =>
      deleted.has(id)
        ? { success: true, id, message: 'Deleted Successfully' }
        : { success: false, id, message: 'Annotation not found.' },
    )
  },
}

/** The annotations that the next transaction deletes. */
async function selectFew(
  call: Pick<ThreadContext, 'db' | 'caller'>,
  input: Selectors,
  visible: Visible | undefined,
) {
  const { found, hasMore, ids } = await selectAnnotations(call, input, maxPerTransaction, visible)
  const few = firstFew(found, maxCommentsPerTransaction)
  return { few, hasMore: hasMore || few.length < found.length, ids }
}

/** Deletes annotations that fit, as many as one transaction may delete. */
export async function deleteFew(
  call: ActingCall & ThreadContext,
  input: Selectors,
): Promise<{ deleted: string[]; ids: string[] }> {
  const { user } = call.caller
  const visible = await requireAccess(call, input, 'write')
  const { few, ids } = await selectFew(call, input, visible)
  for (const { authorId } of few) requireAuthorship(user, authorId, 'delete an annotation')
  if (few.length > 0) {
    const changes = await ThreadChanges.begin(call, input)
    for (const annotation of few) {
      changes.remove(annotation)
      changes.record({
        name: 'comment_annotation.delete',
        annotation,
        actorId: user?.userId,
        notifies: false,
      })
    }
    await changes.save()
  }
  return { deleted: few.map(({ annotationId }) => annotationId), ids }
}

/** Without `organizationId`, the document is found by its id, if only one organization has it (spec 19.4.1). */
export async function findOrganization({
  input,
  caller: { apiKey },
  db,
}: {
  input: { organizationId?: string; documentId: string }
  caller: { apiKey: string }
  db: Db
}): Promise<string> {
  if (input.organizationId !== undefined) return input.organizationId
  const [first, second] = await documents.findOrganizationsOf(db, apiKey, input.documentId)
  if (first === undefined) throw doesNotExist('Document')
  if (second !== undefined) throw new ApiError('INVALID_ARGUMENT', 'organizationId is required.')
  return first
}
