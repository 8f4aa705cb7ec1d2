import type { Db } from '../engine/db.ts'
import * as documents from '../documents/documents.ts'
import { markMovedAway } from '../documents/moved-away.ts'
import { moveAtOnce } from './moved-rows.ts'
import { removalSteps } from './removal.ts'
import { type Position, runSteps } from './row-step.ts'

/**
 * Moves a document with its editors, live states and presence to another id. Rows that the target already has are not
 * overwritten. The caller moves the rest with `moveRest` or by a deletion in steps. Returns false if the document does not
 * exist.
 */
export async function mergeInto(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
  now: number,
): Promise<boolean> {
  const found = await documents.findMany(db, apiKey, organizationId, [documentId, newDocumentId])
  const source = found.find((document) => document.documentId === documentId)
  const target = found.find((document) => document.documentId === newDocumentId)
  if (!source) return false
  await putTarget(db, apiKey, organizationId, { ...merge(source, target), documentId: newDocumentId }, now)
  await numberMove(db, apiKey, organizationId, documentId, newDocumentId)
  await moveAtOnce(db, { apiKey, organizationId, documentId, newDocumentId })
  await markMovedAway(db, apiKey, { organizationId, documentId })
  return true
}

/** Finishes a move: moves grants and notifications, and deletes what is left of the source. */
export async function moveRest(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
): Promise<void> {
  const steps = removalSteps(apiKey, { organizationId, documentIds: [documentId], movedTo: newDocumentId })
  for (let next: Position | undefined = { step: 0 }; next;) next = await runSteps(db, steps, next, [])
  await documents.remove(db, apiKey, organizationId, [documentId])
}

/** The target's values win over the source's. If either document was disabled, the result is disabled. */
const merge = (source: documents.Document, target: documents.Document | undefined): documents.Document => ({
  documentId: source.documentId,
  folderId: target?.folderId ?? source.folderId,
  accessType: target?.accessType ?? source.accessType,
  disabled: source.disabled || target?.disabled === true,
  data: { ...source.data, ...target?.data },
  createdAt: target?.createdAt ?? source.createdAt,
  lastUpdated: source.lastUpdated,
})

async function putTarget(
  db: Db,
  apiKey: string,
  organizationId: string,
  document: documents.Document,
  now: number,
): Promise<void> {
  const values = {
    folder_id: document.folderId,
    access_type: document.accessType,
    disabled: document.disabled ? 1 : 0,
    data: JSON.stringify(document.data),
    last_updated: now,
  }
  await db
    .insertInto('documents')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      document_id: document.documentId,
      event_seq: 0,
      annotation_number: 0,
      created_at: document.createdAt,
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'document_id']).doUpdateSet(values),
    )
    .execute()
}

/** Numbers the move as the newest change of the target, above the numbers of both documents. */
async function numberMove(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  newDocumentId: string,
): Promise<void> {
  const { seq } = await db
    .updateTable('documents')
    .set((eb) => ({
      event_seq: eb
        .selectFrom('documents as both')
        .select((eb) => eb(eb.fn.max('both.event_seq'), '+', 1).as('seq'))
        .where('both.api_key', '=', apiKey)
        .where('both.organization_id', '=', organizationId)
        .where('both.document_id', 'in', [documentId, newDocumentId]),
    }))
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', newDocumentId)
    .returning('event_seq as seq')
    .executeTakeFirstOrThrow()
  await db
    .updateTable('live_states')
    .set({ seq })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .execute()
}
