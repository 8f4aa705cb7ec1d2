import { ApiError, type Operations } from '@plenum/protocol'
import type { Call, PreparedWrite } from '../../calls/call.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Db } from '../../store/engine/db.ts'
import { outcomes } from '../shared/batches.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { requireAccess, requireAuthorship } from './acting-user.ts'
import { selectAnnotations } from './selected-annotations.ts'
import { type ThreadCall, ThreadChanges } from './thread-changes.ts'

type Delete = Operations['commentAnnotations']['delete']

/** One transaction deletes this many annotations. */
const maxPerTransaction = 100

/** A document may have very many annotations, so all but the last of them are deleted in transactions of their own. */
export const deleteAnnotations: PreparedWrite<Delete> = {
  // A user deletes few: the annotations that the call names, or the first hundred.
  async prepare(call): Promise<string[]> {
    const { caller, db, now, services } = call
    const document = { organizationId: await findOrganization(call), documentId: call.input.documentId }
    const deleted: string[] = []
    for (;;) {
      if (caller.user) return deleted
      const { hasMore } = await selectAnnotations(
        { db, caller },
        { ...call.input, ...document },
        maxPerTransaction,
      )
      if (!hasMore) return deleted
      let afterCommit: (() => void)[] = []
      const step = (db: Db) => {
        afterCommit = []
        const later = (work: () => void) => void afterCommit.push(work)
        const stepCall = { db, caller, now, services, signal: () => {}, afterCommit: later }
        return deleteSome(stepCall, { ...call.input, ...document })
      }
      deleted.push(...(await services.writeStep(step, caller.apiKey)).deleted)
      for (const work of afterCommit) work()
    }
  },

  async write(call, before: string[]) {
    const organizationId = await findOrganization(call)
    const { documentId } = call.input
    const { deleted: last, ids } = await deleteSome(call, { ...call.input, organizationId, documentId })
    if (before.length > 0) call.signal({ kind: 'changed', organizationId, documentIds: [documentId] })
    const deleted = new Set([...before, ...last])
    return outcomes(call.input.annotationIds ? ids : deleted, (id) =>
      deleted.has(id)
        ? { success: true, id, message: 'Deleted Successfully' }
        : { success: false, id, message: 'Annotation not found.' },
    )
  },
}

async function deleteSome(
  call: ThreadCall,
  input: Parameters<typeof selectAnnotations>[1],
): Promise<{ deleted: string[]; ids: string[] }> {
  const { user } = call.caller
  const visible = await requireAccess(call, input, 'write')
  const { found, ids } = await selectAnnotations(call, input, maxPerTransaction, visible)
  for (const { authorId } of found) requireAuthorship(user, authorId, 'delete an annotation')
  if (found.length > 0) {
    const changes = await ThreadChanges.begin(call, input)
    for (const annotation of found) {
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
  return { deleted: found.map(({ annotationId }) => annotationId), ids }
}

/** Without `organizationId`, the document is found by its id, if only one organization has it (spec 19.4). */
async function findOrganization({ input, caller: { apiKey }, db }: Call<Delete>): Promise<string> {
  if (input.organizationId !== undefined) return input.organizationId
  const [first, second] = await annotations.findOrganizationsOf(db, apiKey, input.documentId)
  if (first === undefined) throw doesNotExist('Document')
  if (second !== undefined) throw new ApiError('INVALID_ARGUMENT', 'organizationId is required.')
  return first
}
