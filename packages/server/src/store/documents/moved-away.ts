import type { Db } from '../engine/db.ts'
import type { DocumentRef } from '../refs.ts'

/**
 * The `event_seq` of a document whose contents were moved to another id, until the last step of the move removes the
 * document. Nothing more is written to it, because it would be removed too.
 */
export const movedAwaySeq = -1

/** Marks the document as moved away. */
export async function markMovedAway(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
): Promise<void> {
  await db
    .updateTable('documents')
    .set({ event_seq: movedAwaySeq })
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .execute()
}

export async function isMovedAway(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
): Promise<boolean> {
  const row = await db
    .selectFrom('documents')
    .select('event_seq')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .executeTakeFirst()
  return row?.event_seq === movedAwaySeq
}
